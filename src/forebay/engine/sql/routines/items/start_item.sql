-- Starts the tasks of an item that have a time, such as a retry, before their time. Tasks that wait for a signal, for their
-- children or for their turn go on waiting, and so do those of a paused item. promote() makes the tasks ready as any that are due.
create or replace function forebay.start_item(
    job_id bigint, n int, actor text default current_user, now timestamptz default null
) returns boolean language plpgsql set enable_seqscan = off as $$
#variable_conflict use_column
declare
    at timestamptz := coalesce(now, clock_timestamp());
    job forebay.job := forebay.lock_job(job_id);
    it int4multirange := int4multirange(int4range(n, n, '[]'));
    runs bigint;
begin
    perform forebay.open_item(job_id, n);
    with early as (
        delete from forebay.scheduled s using forebay.step p
        where s.job_id = job.id and start_item.n between s.first_n and s.last_n and p.id = s.step_id
          and s.run_at > at and s.run_at < forebay.waits_in_order()
          and not exists (select from forebay.waiting w
                          where w.job_id = s.job_id and w.n = start_item.n and w.bit = p.bit and w.signalled_at is null)
        returning s.*, int4multirange(int4range(s.first_n, s.last_n, '[]')) as ns
    ),
    others as (
        insert into forebay.scheduled (run_at, step_id, lane_id, job_id, owner_id, first_n, last_n, attempt)
        select e.run_at, e.step_id, e.lane_id, e.job_id, e.owner_id, lower(r), upper(r) - 1, e.attempt
        from early e cross join lateral unnest(e.ns - it) r
    ),
    due as (
        insert into forebay.scheduled (run_at, step_id, lane_id, job_id, owner_id, first_n, last_n, attempt)
        select at, e.step_id, e.lane_id, e.job_id, e.owner_id, start_item.n, start_item.n, e.attempt from early e
        returning 1
    )
    select count(*) into runs from due;
    if runs > 0 then
        perform forebay.note(actor, 'start_item', job.owner_id, job.id, n, null, at);
    end if;
    return runs > 0;
end $$;
