-- Adds a token of account $1 (null: of the service).
insert into forebay.api_token (account_id, name, hash, hint, scopes, expires_at)
values ($1, $2, $3, $4, $5, clock_timestamp() + make_interval(secs => $6::float8))
returning id, name, hint, scopes, created_at, expires_at, used_at, revoked_at
