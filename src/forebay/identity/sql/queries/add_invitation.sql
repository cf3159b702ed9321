-- Adds a one-time link: for account $2, or (null) to create an account with role $3.
insert into forebay.invitation (hash, account_id, role, created_by, expires_at)
values ($1, $2, $3::forebay.account_role, $4, clock_timestamp() + make_interval(secs => $5))
returning id, role, created_by, created_at, expires_at
