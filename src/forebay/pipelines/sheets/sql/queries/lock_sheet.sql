-- Keeps a sheet for the transaction.
select from forebay.sheet s where s.id = $1 for no key update
