-- Runs the failed children of a task again, in the transaction that settles it: its item is reprocessed after too many of them had
-- failed. The task waits for them.
create or replace function forebay.repeat_children(job_id bigint, n int, step_id int, now timestamptz default null) returns void
language plpgsql as $$
#variable_conflict use_column
declare
    at timestamptz := coalesce(now, clock_timestamp());
    child_id bigint;
begin
    update forebay.waiting w set name = w.name, key = w.key, payload = w.payload - 'failed', signalled_at = null
    from forebay.step s
    where w.job_id = repeat_children.job_id and w.n = repeat_children.n and w.bit = s.bit and s.id = repeat_children.step_id
      and w.name = 'forebay.map'
    returning w.key::bigint into child_id;
    perform forebay.reprocess(child_id, '{ERROR,NOT_FOUND}', now => at);
    perform forebay.end_maps(array[child_id], at);  -- if there was nothing to run again
end $$;
