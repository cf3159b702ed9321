-- The steps of item $2 of job $1 in the order of declaration, each with its state and its current or last attempt. A run that is
-- scheduled has at most 10,000 items: those before are not read.
with task as materialized (
    select i.job_id, i.n, i.done, i.dead, i.status, coalesce(j.version_id, -j.pipeline_id) as version_id,
           case when i.n = 0 then j.job_steps else j.steps end as mask
    from forebay.item i join forebay.job j on j.id = i.job_id
    where i.job_id = $1::bigint and i.n = $2::int
),
ended as materialized (
    select distinct on (s.bit) s.bit, a.attempt, a.outcome, a.worker_id, a.started_at, a.ended_at, a.class, a.reason
    from task t
    join forebay.attempt a on a.job_id = $1 and a.n = $2
    join forebay.step s on s.id = a.step_id
    -- A late report about a step that had already ended is logged as CANCELLED.
    order by s.bit, s.bit & t.done <> 0 and a.outcome = 'CANCELLED', a.ended_at desc, a.token desc
),
held as materialized (
    select s.bit, l.worker_id, l.attempt, l.claimed_at, l.expires_at
    from forebay.lease l join forebay.step s on s.id = l.step_id
    where l.job_id = $1 and l.ns @> $2
),
later as materialized (
    select s.bit, min(r.run_at) as run_at
    from forebay.scheduled r join forebay.step s on s.id = r.step_id
    where r.job_id = $1 and r.first_n between $2 - 10000 and $2 and r.last_n >= $2
    group by s.bit
)
select v.name,
       case when v.bit & t.done <> 0 then case e.outcome
                when 'NOT_FOUND' then 'NOT_FOUND' when 'ERROR' then 'FAILED' when 'SKIPPED' then 'SKIPPED' else 'DONE' end
            when v.bit & t.dead <> 0 or t.status <> 'PENDING' then case e.outcome
                when 'NOT_FOUND' then 'NOT_FOUND' when 'ERROR' then 'FAILED' else 'SKIPPED' end
            when h.bit is not null then 'RUNNING'
            when r.run_at = 'infinity' then 'HELD'
            when r.run_at is not null then 'SCHEDULED'
            when v.needs & ~t.done <> 0 then 'BLOCKED'
            else 'WAITING' end as state,
       v.optional,
       array(select b.name from forebay.version_step b where b.version_id = v.version_id and b.bit & v.needs <> 0
             order by b.place) as after,
       coalesce(h.attempt, e.attempt, 0) as attempts, nullif(r.run_at, 'infinity') as next_at,
       coalesce(h.claimed_at, e.started_at) as started_at, case when h.bit is null then e.ended_at end as ended_at,
       w.name as worker, h.expires_at as lease_until,
       case when h.bit is null then e.class end as error_class, case when h.bit is null then e.reason end as reason
from task t
join forebay.version_step v on v.version_id = t.version_id and v.bit & t.mask <> 0
left join ended e on e.bit = v.bit
left join held h on h.bit = v.bit
left join later r on r.bit = v.bit
left join forebay.worker w on w.id = coalesce(h.worker_id, e.worker_id)
order by v.place
