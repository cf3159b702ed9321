-- Of tasks (jobs $1, ns $2, steps $3) those that have been throttled without a break for more than $4 seconds each at $5
-- (null: now), by their place among them. A worker that was lost or stopped meanwhile is no break.
select t.place::int as place
from unnest($1::bigint[], $2::int[], $3::int[], $4::float8[]) with ordinality t(job_id, n, step_id, seconds, place)
cross join lateral (
    select a.ended_at from forebay.attempt a
    where a.job_id = t.job_id and a.n = t.n and a.step_id = t.step_id and a.outcome = 'THROTTLED' and a.class is not null
      and not exists (
          select from forebay.attempt o
          where o.job_id = t.job_id and o.n = t.n and o.step_id = t.step_id and o.ended_at > a.ended_at
            and o.outcome not in ('THROTTLED', 'RELEASED', 'EXPIRED'))
    order by a.ended_at limit 1) began
where began.ended_at < coalesce($5, clock_timestamp()) - make_interval(secs => t.seconds)
