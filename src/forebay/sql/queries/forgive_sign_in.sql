-- The right password: what was wrong before is forgotten.
delete from forebay.sign_in_failure where key = any($1) or last_at < clock_timestamp() - interval '1 day'
