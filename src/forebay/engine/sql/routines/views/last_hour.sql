-- The performance of each step in the last hour. The times are those of DONE attempts. The rates are relative to attempts that
-- succeeded or failed; attempts that a remote service throttled count only for the throttle rate (our own limits have no class).
create or replace view forebay.last_hour as
select p.name as pipeline, s.name as step, count(*) as attempts,
       count(*) filter (where a.outcome = 'DONE') as done,
       count(*) filter (where a.outcome = 'ERROR') as errors,
       count(*) filter (where a.outcome = 'EXPIRED') as expired,
       round(avg(extract(epoch from a.ended_at - a.started_at)) filter (where a.outcome = 'DONE'), 3) as average_s,
       round((percentile_cont(0.95) within group (order by extract(epoch from a.ended_at - a.started_at))
              filter (where a.outcome = 'DONE'))::numeric, 3) as p95_s,
       round(count(*) filter (where a.outcome in ('ERROR', 'EXPIRED'))::numeric
             / nullif(count(*) filter (where a.outcome in ('DONE', 'SKIPPED', 'NOT_FOUND', 'ERROR', 'EXPIRED')), 0), 4) as failure_rate,
       round(count(*) filter (where a.outcome = 'NOT_FOUND')::numeric
             / nullif(count(*) filter (where a.outcome in ('DONE', 'SKIPPED', 'NOT_FOUND', 'ERROR', 'EXPIRED')), 0), 4) as not_found_rate,
       round(count(*) filter (where a.outcome = 'THROTTLED' and a.class is not null)::numeric
             / nullif(count(*) filter (where a.outcome in ('DONE', 'SKIPPED', 'NOT_FOUND', 'ERROR', 'EXPIRED')
                                             or a.outcome = 'THROTTLED' and a.class is not null), 0), 4) as throttle_rate
from forebay.attempt a
join forebay.step s on s.id = a.step_id
join forebay.pipeline p on p.id = s.pipeline_id
where a.ended_at > now() - interval '1 hour' and a.attempt > 0
group by p.name, s.name;
select forebay.set_security_invoker('forebay.last_hour');
