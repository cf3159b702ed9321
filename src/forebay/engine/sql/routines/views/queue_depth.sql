-- The exact numbers of waiting and running tasks of each step. on_hold: tasks of paused jobs that were moved, and of paused items.
-- oldest_at: when the oldest job with ready tasks was submitted.
create or replace view forebay.queue_depth as
select p.name as pipeline, s.name as step, max(s.queue) as queue,
       coalesce(sum(r.ready), 0)::bigint as ready, coalesce(sum(t.scheduled), 0)::bigint as scheduled,
       coalesce(sum(e.leased), 0)::bigint as leased,
       (coalesce(sum(r.on_hold), 0) + coalesce(sum(t.on_hold), 0))::bigint as on_hold,
       min(t.next_at) as next_at, bool_or(q.paused) as paused, max(q.parked) as parked, min(q.probe_at) as probe_at,
       min(v.place) as place,
       (select j.created_at from forebay.job j where j.id = min(r.oldest_job)) as oldest_at
from forebay.step s
join forebay.pipeline p on p.id = s.pipeline_id
join forebay.queue q on q.name = s.queue
left join forebay.version_step v on v.version_id = p.version_id and v.bit = s.bit
left join (
    select g.step_id, sum(g.tasks) filter (where l.paused is not true)::bigint as ready,
           sum(g.tasks) filter (where l.paused)::bigint as on_hold,
           min(g.oldest_job) filter (where l.paused is not true) as oldest_job
    from (select r.step_id, r.lane_id, sum(r.last_n - r.first_n + 1) as tasks, min(r.job_id) as oldest_job
          from forebay.ready r group by 1, 2) g
    left join forebay.lane l on l.id = g.lane_id group by g.step_id) r on r.step_id = s.id
left join (
    select step_id, sum(last_n - first_n + 1) filter (where run_at < 'infinity') as scheduled,
           sum(last_n - first_n + 1) filter (where run_at = 'infinity') as on_hold,
           min(run_at) filter (where run_at < forebay.waits_in_order()) as next_at
    from forebay.scheduled group by step_id) t on t.step_id = s.id
left join (
    select l.step_id, sum(upper(r) - lower(r)) as leased
    from forebay.lease l cross join lateral unnest(l.ns) r group by l.step_id) e on e.step_id = s.id
where s.active or r.step_id is not null or t.step_id is not null or e.step_id is not null
group by p.name, s.name;
select forebay.set_security_invoker('forebay.queue_depth');
