-- Marks a stream's job as complete: no more items follow. If all items have ended, the job ends, or its `after_all` steps start.
create or replace function forebay.seal(job_id bigint, loaded bigint default null, now timestamptz default null)
returns forebay.job_state language plpgsql as $$
#variable_conflict use_column
declare
    at timestamptz := coalesce(now, clock_timestamp());
    job forebay.job := forebay.lock_job(job_id);
begin
    if job.sealed or job.parent_id is not null then  -- children are sealed when they start
        return job.state;
    elsif job.loaded <> seal.loaded then
        perform forebay.refuse('FB005', 'key', format(
            'another process streams to job %s: it has read %s rows of its source, this one %s', job.id, job.loaded, loaded));
    end if;
    -- The counters are read under the row's lock: a settle either came before, or sees that the job is sealed.
    update forebay.job j set sealed = true, updated_at = at where j.id = seal.job_id returning j.* into job;
    if job.done + job.skipped + job.not_found + job.error < job.total then
        return job.state;
    end if;
    if job.total > 0 and job.job_steps <> 0 then
        perform forebay.start_job_items(array[job.id], at);
    else
        job.finished_at := at;
    end if;
    update forebay.job j set
        state = case when job.total = 0 then 'DONE' else forebay.state_after(job, 0, 0, 0, null) end,
        started_at = coalesce(j.started_at, at), finished_at = job.finished_at
    where j.id = job.id returning j.state into job.state;
    return job.state;
end $$;
