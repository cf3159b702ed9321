-- Counts a sign-in attempt before the password is checked, for each of these keys: $2 are free, then the wait doubles, up to
-- a quarter of an hour. Returns the seconds to wait; 0: continue. While one of its keys is blocked, an attempt counts for none.
-- Concurrent attempts are serialized by the row locks, so that each sees the count of the previous one.
with asked as (select k.key, k.free from unnest($1::text[], $2::int[]) k(key, free)),
blocked as (
    select max(f.blocked_until) as until from forebay.sign_in_failure f join asked a using (key)
    where f.blocked_until > clock_timestamp()
),
counted as (
    insert into forebay.sign_in_failure as f (key, failures, blocked_until, last_at)
    select a.key, 1, '-infinity', clock_timestamp() from asked a where (select b.until is null from blocked b) order by a.key
    on conflict (key) do update set
        failures = case when f.last_at < clock_timestamp() - interval '1 hour' then 1 else f.failures + 1 end,
        last_at = clock_timestamp(),
        blocked_until = (
            select case when f.failures >= a.free and f.last_at >= clock_timestamp() - interval '1 hour'
                   then clock_timestamp() + make_interval(secs => least(900, 2 ^ least(f.failures - a.free + 1, 20)))
                   else f.blocked_until end
            from asked a where a.key = f.key)
    where f.blocked_until <= clock_timestamp()
    returning f.key
)
select case
    when b.until is not null then greatest(extract(epoch from b.until - clock_timestamp()), 0.001)
    when (select count(*) from counted) < (select count(*) from asked) then 2  -- a concurrent attempt has blocked a key
    else 0 end::float8
from blocked b
