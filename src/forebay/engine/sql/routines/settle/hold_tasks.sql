-- Locks the leases and the items of reports until the transaction ends, and returns the tasks that settle() would save: their
-- lease still contains them, and their item is open. Only these may write rows. The job is not locked: other transactions can
-- settle other tasks of the job while rows are written.
create or replace function forebay.hold_tasks(tokens bigint[], task_ns int[]) returns table (token bigint, n int)
language plpgsql set enable_seqscan = off set jit = off set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
begin
perform from forebay.lease l where l.token = any(tokens) order by l.token for update;
return query
with task as materialized (
    select r.token, r.n, l.job_id, s.bit
    from rows from (unnest(tokens), unnest(task_ns), generate_series(1, cardinality(tokens))) as r(token, n, place)
    join forebay.lease l on l.token = r.token and l.ns @> r.n
    join forebay.step s on s.id = l.step_id
)
select t.token, t.n from task t join forebay.item i on i.job_id = t.job_id and i.n = t.n
where i.status = 'PENDING' and (i.done | i.dead) & t.bit = 0
order by i.job_id, i.n for no key update of i;
end $$;
