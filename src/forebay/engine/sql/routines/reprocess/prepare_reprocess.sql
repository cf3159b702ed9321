-- Prepares a job for reprocess(): a cancelled job is rejected, and a job that has ended gets the present version of its
-- pipeline, because none of its items is in progress.
create or replace function forebay.prepare_reprocess(job forebay.job, at timestamptz) returns forebay.job
language plpgsql as $$
begin
    while job.state = 'CANCELLED' and job.finished_at is null loop
        if coalesce(forebay.end_open_items(job, 100000, at), 0) = 0 and job.reaped = -1 then
            perform forebay.refuse('FB005', 'job_id', format(
                'job %s is still being cancelled: wait until workers have released its items', job.id));
        end if;
        select j.* into job from forebay.job j where j.id = job.id;
    end loop;
    if job.finished_at is not null then
        select p.steps, p.job_steps, p.version_id into job.steps, job.job_steps, job.version_id from forebay.pipeline p where p.id = job.pipeline_id;
    end if;
    return job;
end $$;
