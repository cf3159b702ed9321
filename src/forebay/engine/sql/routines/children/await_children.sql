-- Lets a task go on waiting for its children, in the transaction that settles it: it was woken, and they have not ended.
create or replace function forebay.await_children(job_id bigint, n int, step_id int, now timestamptz default null) returns void
language plpgsql as $$
#variable_conflict use_column
declare child_id bigint;
begin
    update forebay.waiting w set name = w.name, key = w.key, signalled_at = null
    from forebay.step s
    where w.job_id = await_children.job_id and w.n = await_children.n and w.bit = s.bit and s.id = await_children.step_id
      and w.name = 'forebay.map'
    returning w.key::bigint into child_id;
    perform forebay.end_maps(array[child_id], coalesce(now, clock_timestamp()));  -- if they have ended since they were read
end $$;
