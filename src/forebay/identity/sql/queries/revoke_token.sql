-- Revokes token $1 of account $2 (null: of the service).
update forebay.api_token set revoked_at = coalesce(revoked_at, clock_timestamp())
where id = $1 and account_id is not distinct from $2::bigint returning id
