-- What people with psql look at. None of the engine reads these views. They are replaced in place, so that grants and
-- views on top of them survive: columns are added at the end.

-- The names of a pipeline's steps in a mask, in the order of their declaration.
create or replace function forebay.step_names(pipeline_id int, mask bigint) returns text[] language sql stable as $$
select array(select s.name from forebay.step s
             where s.pipeline_id = step_names.pipeline_id and s.bit & mask <> 0 order by s.bit)
$$;

-- Items in words: an open item that a worker has is PROCESSING. n = 0 is the job's own item.
create or replace view forebay.items as
select i.job_id, i.n, p.name as pipeline, o.name as owner,
       case when i.status = 'PENDING' and running.steps is not null then 'PROCESSING' else i.status end as status,
       running.steps as running, forebay.step_names(i.pipeline_id, i.done) as done,
       forebay.step_names(i.pipeline_id, i.dead & ~i.done) as dead,
       i.key, i.input, i.normalized, i.result, i.error, i.progress, i.created_at, i.updated_at
from forebay.item i
join forebay.pipeline p on p.id = i.pipeline_id
join forebay.owner o on o.id = i.owner_id
left join lateral (
    select array_agg(s.name order by s.bit) as steps
    from forebay.lease l join forebay.step s on s.id = l.step_id
    where i.status = 'PENDING' and l.job_id = i.job_id and l.ns @> i.n) running on true;

-- Jobs in words. eta: when it ends if it goes on as it did lately; heartbeat_at: when something last happened in it.
create or replace view forebay.jobs as
select j.id, p.name as pipeline, o.name as owner, j.state, j.priority, j.key, j.total, j.done, j.skipped, j.not_found, j.error,
       j.total - e.ended as open,
       case when j.total = 0 then case when j.finished_at is null then 0 else 100 end
            else trunc(100.0 * e.ended / j.total, 1) end as percent,
       clock_timestamp() + make_interval(secs => forebay.eta_seconds(j)) as eta,
       j.sealed, j.meta, j.created_at, j.started_at, j.finished_at, j.updated_at,
       forebay.heartbeat_at(j) as heartbeat_at, j.last_error
from forebay.job j
cross join lateral (select j.done + j.skipped + j.not_found + j.error as ended) e
join forebay.pipeline p on p.id = j.pipeline_id
join forebay.owner o on o.id = j.owner_id;

-- Tasks that wait and run, exactly, for each step. on_hold: those of paused jobs that are set aside, and of paused items.
create or replace view forebay.queue_depth as
select p.name as pipeline, s.name as step, s.queue,
       coalesce(r.ready, 0) as ready, coalesce(t.scheduled, 0) as scheduled, coalesce(e.leased, 0) as leased,
       coalesce(r.on_hold, 0) + coalesce(t.on_hold, 0) as on_hold,
       t.next_at, q.paused, q.parked, q.probe_at
from forebay.step s
join forebay.pipeline p on p.id = s.pipeline_id
join forebay.queue q on q.name = s.queue
left join (
    select g.step_id, sum(g.tasks) filter (where l.paused is not true)::bigint as ready,
           sum(g.tasks) filter (where l.paused)::bigint as on_hold
    from (select r.step_id, r.lane_id, sum(r.last_n - r.first_n + 1) as tasks from forebay.ready r group by 1, 2) g
    left join forebay.lane l on l.id = g.lane_id group by g.step_id) r on r.step_id = s.id
left join (
    select step_id, sum(last_n - first_n + 1) filter (where run_at < 'infinity') as scheduled,
           sum(last_n - first_n + 1) filter (where run_at = 'infinity') as on_hold,
           min(run_at) filter (where run_at < 'infinity') as next_at
    from forebay.scheduled group by step_id) t on t.step_id = s.id
left join (
    select l.step_id, sum(upper(r) - lower(r)) as leased
    from forebay.lease l cross join lateral unnest(l.ns) r group by l.step_id) e on e.step_id = s.id
where s.active or r.step_id is not null or t.step_id is not null or e.step_id is not null;

-- Items of all jobs by owner, pipeline and status, exactly, at one moment: those that have ended as the tallies say, the
-- others as the jobs that are open and the leases do. As the caller may see them, on every PostgreSQL.
create or replace function forebay.count_items()
returns table (owner_id bigint, pipeline_id int, pending bigint, processing bigint, done bigint, skipped bigint,
               not_found bigint, error bigint)
language sql stable set enable_seqscan = off set jit = off as $$
select c.owner_id, c.pipeline_id, (sum(c.open) - sum(c.held))::bigint, sum(c.held)::bigint, sum(c.done)::bigint,
       sum(c.skipped)::bigint, sum(c.not_found)::bigint, sum(c.error)::bigint
from (
    select t.owner_id, t.pipeline_id, 0 as open, 0 as held, t.done, t.skipped, t.not_found, t.error from forebay.tally t
    union all
    select j.owner_id, j.pipeline_id, j.total - j.done - j.skipped - j.not_found - j.error, 0, 0, 0, 0, 0
    from forebay.job j where j.finished_at is null
    union all
    select i.owner_id, i.pipeline_id, 0, 1, 0, 0, 0, 0
    from (
        select distinct l.job_id, n from forebay.lease l cross join lateral unnest(l.ns) r
        cross join lateral generate_series(lower(r), upper(r) - 1) n where n > 0) h
    join forebay.item i on i.job_id = h.job_id and i.n = h.n and i.status = 'PENDING'
) c
group by c.owner_id, c.pipeline_id
$$;

-- The same in words.
create or replace view forebay.totals as
select p.name as pipeline, o.name as owner, c.pending, c.processing, c.done, c.skipped, c.not_found, c.error
from forebay.count_items() c
join forebay.pipeline p on p.id = c.pipeline_id
join forebay.owner o on o.id = c.owner_id;

-- How each step went in the last hour. The times are those of attempts that ended DONE. The rates are those of attempts that ended well or badly; what the other side
-- throttled (our own limits have no class) counts for the throttle rate only.
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

-- Tasks that failed for good, with what they failed on.
create or replace view forebay.dead_letters as
select d.at, d.job_id, d.n, p.name as pipeline, s.name as step, o.name as owner, d.outcome, d.class, d.reason, d.attempt,
       i.key, i.input
from forebay.dead_letter d
join forebay.step s on s.id = d.step_id
join forebay.pipeline p on p.id = s.pipeline_id
join forebay.owner o on o.id = d.owner_id
left join forebay.item i on i.job_id = d.job_id and i.n = d.n;

create or replace view forebay.attempts as
select a.job_id, a.n, p.name as pipeline, s.name as step, o.name as owner, a.attempt, a.outcome, a.class, a.reason,
       a.started_at, a.ended_at, a.ended_at - a.started_at as duration, w.name as worker, a.worker_id, a.token
from forebay.attempt a
join forebay.step s on s.id = a.step_id
join forebay.pipeline p on p.id = s.pipeline_id
join forebay.owner o on o.id = a.owner_id
left join forebay.worker w on w.id = a.worker_id;

-- Workers. Stuck, while work is pending: not seen for 5 minutes; or for as long nothing ended of what it holds; or it holds
-- nothing, while a job whose tasks it could take has not moved for as long, and no limit holds them back.
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

-- Row-level security is that of the person who looks, where PostgreSQL can do that (15 and newer).
do $$
declare v text;
begin
    if current_setting('server_version_num')::int >= 150000 then
        foreach v in array '{items,jobs,queue_depth,totals,last_hour,dead_letters,attempts,workers}'::text[] loop
            execute format('alter view forebay.%I set (security_invoker = true)', v);
        end loop;
    end if;
end $$;
