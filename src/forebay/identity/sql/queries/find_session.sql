-- Finds the account of a session. Updates its last use at most once a minute.
with found as (
    select s.hash, s.seen_at, a.id, a.owner_id, a.name, a.role
    from forebay.session s join forebay.account a on a.id = s.account_id
    where s.hash = $1 and s.expires_at > clock_timestamp() and a.disabled_at is null
),
seen as (
    update forebay.session s set seen_at = clock_timestamp() from found f
    where s.hash = f.hash and f.seen_at < clock_timestamp() - interval '1 minute'
)
select f.id, f.owner_id, f.name, f.role from found f
