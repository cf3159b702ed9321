-- Starts the tasks of an item that have a time, such as a retry, before their time. Tasks that wait for a signal, for their
-- children or for their turn go on waiting, and so do those of a paused item. promote() makes the tasks ready as any that are due.
create or replace function forebay.start_item(
    job_id bigint, n int, actor text default current_user, now timestamptz default null
) returns boolean language plpgsql set enable_seqscan = off as $$
#variable_conflict use_column
declare
    at timestamptz := coalesce(now, clock_timestamp());
    job forebay.job := forebay.lock_job(job_id);
    early tid[];
    runs bigint;
begin
    perform forebay.open_item(job_id, n);
    early := array(
        select s.ctid from forebay.scheduled s join forebay.step p on p.id = s.step_id
        where s.job_id = job.id and start_item.n between s.first_n and s.last_n
          and s.run_at > at and s.run_at < forebay.waits_in_order()
          and not exists (select from forebay.waiting w
                          where w.job_id = s.job_id and w.n = start_item.n and w.bit = p.bit and w.signalled_at is null)
        for update of s);
    insert into forebay.scheduled (run_at, step_id, lane_id, job_id, owner_id, first_n, last_n, attempt)
    select at, e.step_id, e.lane_id, job.id, e.owner_id, start_item.n, start_item.n, e.attempt
    from forebay.cut_scheduled(job.id, start_item.n, early) e;
    get diagnostics runs = row_count;
    if runs > 0 then
        perform forebay.note(actor, 'start_item', job.owner_id, job.id, n, null, at);
    end if;
    return runs > 0;
end $$;
