-- Starts the children of a task, in the transaction that settles it; the task waits for them as for a signal. The lock keeps
-- pause and cancel of the job away: either they come before, and this sees it, or they find the children. It is not awaited,
-- since the caller holds the task and a cancel waits for that.
create or replace function forebay.start_children(child_id bigint, max_failed int, now timestamptz default null) returns void
language plpgsql as $$
#variable_conflict use_column
declare
    at timestamptz := coalesce(now, clock_timestamp());
    child forebay.job;
    parent forebay.job;
begin
    select j.* into strict child from forebay.job j where j.id = child_id;
    if not pg_try_advisory_xact_lock_shared(hashtextextended('forebay.job', child.parent_id)) then
        raise exception 'job % is being changed: start its children again', child.parent_id using errcode = '40001';
    end if;
    select j.* into strict parent from forebay.job j where j.id = child.parent_id;
    if parent.state = 'CANCELLED' then
        return;  -- delete_unstarted() deletes them
    end if;
    insert into forebay.waiting as w (job_id, n, bit, owner_id, name, key, expires_at, payload)
    values (child.parent_id, child.parent_n, child.parent_bit, child.owner_id, 'forebay.map', child.id::text, 'infinity',
            jsonb_build_object('max_failed', max_failed))
    on conflict (job_id, n, bit) do update set
        name = excluded.name, key = excluded.key, expires_at = excluded.expires_at, payload = excluded.payload, signalled_at = null;
    update forebay.job j set
        sealed = true, first_seq = nextval('forebay.seq'), updated_at = at,
        state = case when parent.state = 'PAUSED' then 'PAUSED' else j.state end,
        lane_id = case when j.total > 1000 or parent.state = 'PAUSED' or j.state = 'PAUSED'
                       then forebay.lane_id(j.owner_id, j.id, j.priority) else j.lane_id end,
        version_id = p.version_id, steps = p.steps, job_steps = p.job_steps
    from forebay.pipeline p
    where j.id = child.id and not j.sealed and p.id = j.pipeline_id
    returning j.* into child;
    if child.id is null then  -- somebody has cancelled the children
        perform forebay.end_maps(array[child_id], at);
        return;
    end if;
    if child.state = 'PAUSED' then
        perform forebay.pause_lanes(child.id, true);
    end if;
    perform forebay.enqueue(child.id, 1, child.total, null, at);
end $$;
