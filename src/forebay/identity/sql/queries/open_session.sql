-- Adds a session of account $2, unless it is disabled or its password is no longer $6 (null: any), and deletes expired ones.
-- The account is locked: a concurrent change of the password waits, and then ends this session, too.
with seen as (
    update forebay.account set signed_in_at = clock_timestamp()
    where id = $2 and disabled_at is null and ($6::text is null or password = $6) returning id
),
old as (delete from forebay.session where account_id = $2 and expires_at < clock_timestamp())
insert into forebay.session (hash, account_id, expires_at, ip, agent)
select $1, s.id, clock_timestamp() + make_interval(secs => $3), $4::text::inet, left($5::text, 300) from seen s
returning id
