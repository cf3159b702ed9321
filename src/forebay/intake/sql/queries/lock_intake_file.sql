-- Keeps a file for the transaction.
select from forebay.intake_file f where f.target = $1 and f.reference = $2 for no key update
