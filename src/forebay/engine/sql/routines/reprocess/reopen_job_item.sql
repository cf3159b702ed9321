-- Runs failed `after_all` steps again if no other item runs again; otherwise they run again after those items.
create or replace function forebay.reopen_job_item(
    job forebay.job, statuses forebay.item_status[], chosen int4multirange, reset_attempts boolean, at timestamptz
) returns int language plpgsql as $$
#variable_conflict use_column
declare kept bigint;
begin
    if job.finished_at is null or chosen is not null and not chosen @> 0 then
        return 0;
    end if;
    update forebay.item i set
        status = 'PENDING', verdict = 'DONE', dead = 0, done = case when i.status = 'DONE' then 0 else i.done end,
        error = null, progress = null, updated_at = at
    where i.job_id = job.id and i.n = 0 and i.status = any(statuses) and i.status <> 'DONE'
    returning i.done into kept;
    if kept is null then
        return 0;
    end if;
    -- Tasks that it left behind when it ended early must neither run nor settle beside its new steps.
    perform from forebay.cut_runs(job, 0);
    perform forebay.cut_leases(job.id, '{[0,0]}');
    delete from forebay.dead_letter d where d.job_id = job.id and d.n = 0;
    delete from forebay.waiting w where w.job_id = job.id and w.n = 0 and w.signalled_at is null;
    insert into forebay.ready (step_id, lane_id, job_id, owner_id, first_n, last_n, attempt)
    select s.id, forebay.lane_of(job.id), job.id, job.owner_id, 0, 0,
           case when reset_attempts then 0 else s.max_attempts - 1 end
    from forebay.next_steps(job, kept, true) s;
    update forebay.job j set state = 'RUNNING', steps = job.steps, job_steps = job.job_steps, version_id = job.version_id, finished_at = null,
                             pace = null, last_error = null, updated_at = at
    where j.id = job.id;
    return 1;
end $$;
