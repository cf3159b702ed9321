-- Ends one item as SKIPPED. If a worker holds the item, the worker's later report is stale.
create or replace function forebay.cancel_item(
    job_id bigint, n int, actor text default current_user, now timestamptz default null
) returns boolean language plpgsql set enable_seqscan = off as $$
#variable_conflict use_column
declare
    at timestamptz := coalesce(now, clock_timestamp());
    job forebay.job := forebay.lock_job(job_id);
    it int4multirange := int4multirange(int4range(n, n, '[]'));
    held forebay.lease;
begin
    if exists (select from forebay.item i where i.job_id = job.id and i.n = cancel_item.n
               and i.status = 'SKIPPED' and i.error ->> 'class' = 'cancelled') then
        return false;
    end if;
    perform forebay.hold_order(array[job.id]);
    perform forebay.open_item(job_id, n);
    perform from forebay.cut_runs(job, n);
    -- All of them before the job's row, which settle() locks.
    perform from forebay.lease l where l.job_id = job.id and l.ns @> cancel_item.n order by l.token for update;
    select l.* into held from forebay.lease l where l.job_id = job.id and l.ns @> cancel_item.n order by l.token limit 1;
    if held.token is null then  -- settle() handles all consequences of an item's end, but needs a lease
        insert into forebay.lease (token, step_id, lane_id, job_id, owner_id, worker_id, attempt, claimed_at, expires_at, ns)
        select forebay.next_token(), s.step_id, job.lane_id, job.id, job.owner_id, 0, 0, at, at, it
        from forebay.version_step s join forebay.item i on i.job_id = job.id and i.n = cancel_item.n
        where s.version_id = coalesce(job.version_id, -job.pipeline_id) and s.bit & ~(i.done | i.dead) <> 0
          and s.bit & case when i.n = 0 then job.job_steps else job.steps end <> 0
        order by s.bit limit 1
        returning * into held;
    end if;
    perform forebay.settle(
        held.worker_id, array[held.token], array[n], '{CANCELLED}', '{}', array[extract(epoch from held.claimed_at)::float8],
        '{}', '{}', '{true}', '{cancelled}', array['cancelled by ' || actor], at);
    perform forebay.cut_leases(job.id, it);
    perform forebay.end_ordered_of(array[job.id], at, n);
    perform forebay.note(actor, 'cancel_item', job.owner_id, job.id, n, null, at);
    perform forebay.change_children(job, 'cancel', actor, at, n);
    return true;
end $$;
