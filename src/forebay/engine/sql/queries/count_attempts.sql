-- Attempts that ended from $1 to $2, by minute, step, outcome, the index of their duration among the bounds $3, and the class of
-- their error. Attempts that our own limits held back are separate from those that a remote service throttled.
select c.minute, p.name as pipeline, s.name as step, c.outcome, c.bucket, c.attempts, c.seconds, c.error_class
from (
    select date_trunc('minute', a.ended_at) as minute, a.step_id,
           case when a.outcome = 'THROTTLED' and a.class is null then 'LIMITED' else a.outcome::text end as outcome,
           width_bucket(d.seconds, $3::float8[]) as bucket, count(*) as attempts, sum(d.seconds) as seconds,
           case when a.outcome = 'ERROR' then coalesce(a.class, 'unknown') end as error_class
    from forebay.attempt a
    cross join lateral (select extract(epoch from a.ended_at - a.started_at)::float8 as seconds) d
    where a.ended_at >= $1 and a.ended_at < coalesce($2, 'infinity'::timestamptz) and a.attempt > 0
    group by 1, 2, 3, 4, error_class
) c
join forebay.step s on s.id = c.step_id
join forebay.pipeline p on p.id = s.pipeline_id
