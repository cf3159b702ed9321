-- The right password: what was wrong before is forgotten.
delete from forebay.sign_in_failure where key = any($1)
