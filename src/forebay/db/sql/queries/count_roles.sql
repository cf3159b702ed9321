-- How many roles there are that parts grant rights to. Logins, whose names have one more word, are members of such roles.
select count(*) from pg_roles where rolname ~ '^forebay_[a-z]+$'
