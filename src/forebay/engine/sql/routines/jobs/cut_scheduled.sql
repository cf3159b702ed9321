-- Removes an item from its scheduled runs, or only from those at `places`, and returns what was removed. What is left of a run
-- stays scheduled.
create or replace function forebay.cut_scheduled(job_id bigint, item_n int, places tid[] default null)
returns table (step_id int, lane_id bigint, owner_id bigint, attempt smallint, run_at timestamptz)
language plpgsql set enable_seqscan = off as $$
#variable_conflict use_column
begin
return query
with cut as (
    delete from forebay.scheduled s
    where s.job_id = cut_scheduled.job_id and item_n between s.first_n and s.last_n and (places is null or s.ctid = any(places))
    returning s.*
),
others as (
    insert into forebay.scheduled (run_at, step_id, lane_id, job_id, owner_id, attempt, first_n, last_n)
    select c.run_at, c.step_id, c.lane_id, c.job_id, c.owner_id, c.attempt, o.first_n, o.last_n
    from cut c cross join lateral (values (c.first_n, item_n - 1), (item_n + 1, c.last_n)) o(first_n, last_n)
    where o.first_n <= o.last_n
)
select c.step_id, c.lane_id, c.owner_id, c.attempt, c.run_at from cut c;
end $$;
