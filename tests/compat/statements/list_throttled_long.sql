-- The indexes of those tasks (jobs $1, ns $2, steps $3) that have been throttled without a break for more than $4 seconds each
-- at $6 (null: now). Of the time between two attempts, at most $5 seconds count: a paused job or a parked queue does not wait
-- for the remote service. The loss or stop of a worker is not a break.
select t.place::int as place
from unnest($1::bigint[], $2::int[], $3::int[], $4::float8[], $5::float8[])
    with ordinality t(job_id, n, step_id, seconds, longest, place)
cross join lateral (
    select sum(least(s.next_at - s.ended_at, make_interval(secs => t.longest))) as waited
    from (
        select o.ended_at,
               lead(o.ended_at, 1, coalesce($6, clock_timestamp())) over by_time as next_at,
               bool_or(o.outcome = 'THROTTLED' and o.class is not null) over by_time as has_begun
        from (
            select a.ended_at, a.outcome, a.class, a.token,
                   max(a.ended_at) filter (where a.outcome not in ('THROTTLED', 'RELEASED', 'EXPIRED')) over () as broke_at
            from forebay.attempt a
            where a.job_id = t.job_id and a.n = t.n and a.step_id = t.step_id) o
        where o.broke_at is null or o.ended_at > o.broke_at
        window by_time as (order by o.ended_at, o.token)) s
    where s.has_begun) w
where w.waited > make_interval(secs => t.seconds)
