-- One more wrong password for each of these keys: five are free, then the wait doubles, up to a quarter of an hour.
insert into forebay.sign_in_failure as f (key, failures, blocked_until, last_at)
select k, 1, '-infinity', clock_timestamp() from unnest($1::text[]) k order by k
on conflict (key) do update set
    failures = case when f.last_at < clock_timestamp() - interval '1 hour' then 1 else f.failures + 1 end,
    last_at = clock_timestamp(),
    blocked_until = case when f.failures >= 5 and f.last_at >= clock_timestamp() - interval '1 hour'
        then clock_timestamp() + make_interval(secs => least(900, 2 ^ least(f.failures - 4, 20))) else f.blocked_until end
