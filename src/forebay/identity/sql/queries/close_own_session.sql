-- Ends session $1 of account $2.
delete from forebay.session where id = $1 and account_id = $2 returning id
