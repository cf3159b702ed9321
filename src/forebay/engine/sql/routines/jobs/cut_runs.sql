-- Removes items from unclaimed runs, and returns what was removed. Of a split run, the first piece keeps its position; the
-- others are appended to the queue.
create or replace function forebay.cut_runs(job forebay.job, gone int4multirange)
returns table (step_id int, lane_id bigint, attempt smallint, run_at timestamptz, first_n int, last_n int)
language plpgsql set enable_seqscan = off as $$
#variable_conflict use_column
begin
return query
with due as (
    delete from forebay.ready r
    where r.step_id = any(forebay.steps_of(job)) and r.lane_id = any(forebay.lanes_of(job)) and r.job_id = job.id
      and gone && int4range(r.first_n, r.last_n, '[]')
    returning r.*, int4multirange(int4range(r.first_n, r.last_n, '[]')) as ns
),
due_left as (
    insert into forebay.ready (step_id, lane_id, seq, job_id, owner_id, attempt, first_n, last_n)
    select d.step_id, d.lane_id,
           case when row_number() over (partition by d.seq order by r) = 1 then d.seq else nextval('forebay.seq') end,
           d.job_id, d.owner_id, d.attempt, lower(r), upper(r) - 1
    from due d cross join lateral unnest(d.ns - gone) r
),
later as (
    delete from forebay.scheduled s
    where s.job_id = job.id and gone && int4range(s.first_n, s.last_n, '[]')
    returning s.*, int4multirange(int4range(s.first_n, s.last_n, '[]')) as ns
),
later_left as (
    insert into forebay.scheduled (run_at, step_id, lane_id, job_id, owner_id, attempt, first_n, last_n)
    select l.run_at, l.step_id, l.lane_id, l.job_id, l.owner_id, l.attempt, lower(r), upper(r) - 1
    from later l cross join lateral unnest(l.ns - gone) r
)
select d.step_id, d.lane_id, d.attempt, null::timestamptz, lower(r), upper(r) - 1
from due d cross join lateral unnest(d.ns * gone) r
union all
select l.step_id, l.lane_id, l.attempt, l.run_at, lower(r), upper(r) - 1
from later l cross join lateral unnest(l.ns * gone) r;
end $$;
