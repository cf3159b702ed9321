-- A session of account $2; those of it that are over go.
with old as (delete from forebay.session where account_id = $2 and expires_at < clock_timestamp()),
seen as (update forebay.account set signed_in_at = clock_timestamp() where id = $2)
insert into forebay.session (hash, account_id, expires_at, ip, agent)
values ($1, $2, clock_timestamp() + make_interval(secs => $3), $4::text::inet, left($5::text, 300))
