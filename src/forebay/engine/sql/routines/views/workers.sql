-- Workers. A worker is stuck if work is pending and, for 5 minutes, it had no heartbeat; or none of its tasks ended; or it holds
-- no task, although a job whose tasks it could run made no progress and no limit holds them back.
create or replace view forebay.workers as
with idle_work as materialized (
    select distinct p.name || '.' || s.name as step
    from (select r.step_id, r.lane_id, r.job_id from forebay.ready r limit 1000) r
    join forebay.step s on s.id = r.step_id
    join forebay.pipeline p on p.id = s.pipeline_id
    join forebay.queue q on q.name = s.queue and not q.paused and q.parked is null
    join forebay.lane l on l.id = r.lane_id and not l.paused
    join forebay.job j on j.id = r.job_id and j.updated_at < now() - interval '5 minutes'
        and j.state in ('QUEUED', 'RUNNING')
)
select w.id, w.name, w.stopped_at is null and w.seen_at > now() - interval '1 minute' as alive,
       coalesce(h.in_flight, 0) as in_flight, h.oldest_claim,
       case when w.stopped_at is not null then false
            when w.seen_at < now() - interval '5 minutes'
                then h.in_flight is not null or exists (select from forebay.ready)
            when h.newest_claim < now() - interval '5 minutes'
                then not exists (select from forebay.attempt a
                                 where a.worker_id = w.id and a.ended_at > now() - interval '5 minutes')
            when h.in_flight is null and w.started_at < now() - interval '5 minutes'
                then exists (select from idle_work i where w.stats -> 'steps' -> i.step @> '{"limited": false}')
            else false end as stuck,
       w.stale, w.started_at, w.seen_at, w.stopped_at, w.stats
from forebay.worker w
left join (
    select l.worker_id, sum(upper(r) - lower(r)) as in_flight, min(l.claimed_at) as oldest_claim, max(l.claimed_at) as newest_claim
    from forebay.lease l cross join lateral unnest(l.ns) r group by l.worker_id) h on h.worker_id = w.id;
select forebay.set_security_invoker('forebay.workers');
