-- One item: held back, let go, ended.

-- The item, which must be open.
create or replace function forebay.open_item(job_id bigint, n int) returns forebay.item language plpgsql as $$
declare item forebay.item;
begin
    select i.* into item from forebay.item i where i.job_id = open_item.job_id and i.n = open_item.n;
    if item.job_id is null then
        perform forebay.refuse('FB004', 'n', format('job %s has no item %s', job_id, n));
    elsif item.status <> 'PENDING' then
        perform forebay.refuse('FB005', 'n', format('item %s of job %s has ended: it is %s', n, job_id, item.status));
    end if;
    return item;
end $$;

-- Holds one item back: its runs wait for ever, until resume_item().
create or replace function forebay.pause_item(
    job_id bigint, n int, actor text default current_user, now timestamptz default null
) returns boolean language plpgsql as $$
#variable_conflict use_column
declare
    at timestamptz := coalesce(now, clock_timestamp());
    job forebay.job := forebay.lock_job(job_id);
    held record;
begin
    perform forebay.open_item(job_id, n);
    with cut as (
        select c.* from forebay.cut_runs(job, int4multirange(int4range(pause_item.n, pause_item.n, '[]'))) c
    ),
    set_aside as (
        insert into forebay.scheduled (run_at, step_id, lane_id, job_id, owner_id, first_n, last_n, attempt)
        select 'infinity', c.step_id, c.lane_id, job.id, job.owner_id, c.first_n, c.last_n, c.attempt from cut c
    )
    select count(*) as runs, count(*) filter (where c.run_at is distinct from 'infinity') as fresh into held from cut c;
    if held.runs = 0 then
        perform forebay.refuse('FB005', 'n', format(
            'a worker has item %s of job %s at this moment: wait for it, or cancel the item', n, job_id));
    elsif held.fresh > 0 then
        perform forebay.note(actor, 'pause_item', job.owner_id, job.id, n, null, at);
    end if;
    return held.fresh > 0;
end $$;

create or replace function forebay.resume_item(
    job_id bigint, n int, actor text default current_user, now timestamptz default null
) returns boolean language plpgsql as $$
#variable_conflict use_column
declare
    at timestamptz := coalesce(now, clock_timestamp());
    job forebay.job := forebay.lock_job(job_id);
    resumed bigint;
begin
    perform forebay.open_item(job_id, n);
    with held as (
        delete from forebay.scheduled s
        where s.job_id = job.id and s.run_at = 'infinity' and resume_item.n between s.first_n and s.last_n
        returning s.*
    ),
    queued as (
        insert into forebay.ready (step_id, lane_id, job_id, owner_id, first_n, last_n, attempt)
        select h.step_id, h.lane_id, h.job_id, h.owner_id, h.first_n, h.last_n, h.attempt from held h
        returning step_id, lane_id, seq
    )
    select count(*) + 0 * count(forebay.wake(q.step_id, q.lane_id, q.seq, at)) into resumed from queued q;
    if resumed > 0 then
        perform forebay.note(actor, 'resume_item', job.owner_id, job.id, n, null, at);
    end if;
    return resumed > 0;
end $$;

-- Ends one item as SKIPPED. When a worker has it, what that worker reports later is stale.
create or replace function forebay.cancel_item(
    job_id bigint, n int, actor text default current_user, now timestamptz default null
) returns boolean language plpgsql as $$
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
    perform forebay.open_item(job_id, n);
    perform from forebay.cut_runs(job, it);
    select l.* into held from forebay.lease l where l.job_id = job.id and l.ns @> cancel_item.n order by l.token limit 1 for update;
    if held.token is null then  -- settle() knows all that follows from an item's end; it wants a lease to go by
        insert into forebay.lease (token, step_id, lane_id, job_id, owner_id, worker_id, attempt, claimed_at, expires_at, ns)
        select forebay.next_token(), s.id, job.lane_id, job.id, job.owner_id, 0, 0, at, at, it
        from forebay.step s join forebay.item i on i.job_id = job.id and i.n = cancel_item.n
        where s.pipeline_id = job.pipeline_id and s.bit & ~(i.done | i.dead) <> 0
          and s.bit & case when i.n = 0 then job.job_steps else job.steps end <> 0
        order by s.bit limit 1
        returning * into held;
    end if;
    perform forebay.settle(
        held.worker_id, array[held.token], array[n], '{CANCELLED}', '{}', array[extract(epoch from held.claimed_at)::float8],
        '{}', '{}', '{true}', '{cancelled}', array['cancelled by ' || actor], at);
    perform forebay.cut_leases(job.id, it);
    perform forebay.note(actor, 'cancel_item', job.owner_id, job.id, n, null, at);
    return true;
end $$;
