-- Lists the tokens of account $1 (null: of the service), newest first.
select id, name, hint, scopes, created_at, expires_at, used_at, revoked_at from forebay.api_token
where account_id is not distinct from $1::bigint order by id desc
