-- Removes an item from unclaimed runs, and returns what was removed. Of a split run, the first piece keeps its position; the
-- others are appended to the queue.
create or replace function forebay.cut_runs(job forebay.job, item_n int)
returns table (step_id int, lane_id bigint, attempt smallint, run_at timestamptz, first_n int, last_n int)
language plpgsql set enable_seqscan = off as $$
#variable_conflict use_column
declare
    gone int4multirange := int4multirange(int4range(item_n, item_n, '[]'));
    found_steps int[];
    found_lanes bigint[];
    found_seqs bigint[];
begin
select array_agg(f.step_id), array_agg(f.lane_id), array_agg(f.seq) into found_steps, found_lanes, found_seqs
from forebay.find_runs(job, item_n) f;
return query
with due as (
    delete from forebay.ready r
    using unnest(found_steps, found_lanes, found_seqs) f(step_id, lane_id, seq)
    where r.step_id = f.step_id and r.lane_id = f.lane_id and r.seq = f.seq
    returning r.*, int4multirange(int4range(r.first_n, r.last_n, '[]')) as ns
),
due_left as (
    insert into forebay.ready (step_id, lane_id, seq, job_id, owner_id, attempt, first_n, last_n)
    select d.step_id, d.lane_id,
           case when row_number() over (partition by d.seq order by r) = 1 then d.seq else nextval('forebay.seq') end,
           d.job_id, d.owner_id, d.attempt, lower(r), upper(r) - 1
    from due d cross join lateral unnest(d.ns - gone) r
)
select d.step_id, d.lane_id, d.attempt, null::timestamptz, lower(r), upper(r) - 1
from due d cross join lateral unnest(d.ns * gone) r
union all
select l.step_id, l.lane_id, l.attempt, l.run_at, item_n, item_n from forebay.cut_scheduled(job.id, item_n) l;
end $$;
