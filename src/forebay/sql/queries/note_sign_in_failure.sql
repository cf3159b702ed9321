-- One more wrong password for each of these keys: $2 are free, then the wait doubles, up to a quarter of an hour.
insert into forebay.sign_in_failure as f (key, failures, blocked_until, last_at)
select k.key, 1, '-infinity', clock_timestamp() from unnest($1::text[], $2::int[]) k(key, free) order by k.key
on conflict (key) do update set
    failures = case when f.last_at < clock_timestamp() - interval '1 hour' then 1 else f.failures + 1 end,
    last_at = clock_timestamp(),
    blocked_until = (
        select case when f.failures >= k.free and f.last_at >= clock_timestamp() - interval '1 hour'
               then clock_timestamp() + make_interval(secs => least(900, 2 ^ least(f.failures - k.free + 1, 20)))
               else f.blocked_until end
        from unnest($1::text[], $2::int[]) k(key, free) where k.key = f.key)
