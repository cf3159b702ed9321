-- Locks a job until the transaction ends, and returns it.
create or replace function forebay.lock_job(job_id bigint) returns forebay.job
language plpgsql as $$
declare job forebay.job;
begin
    perform pg_advisory_xact_lock(hashtextextended('forebay.job', lock_job.job_id));
    select j.* into job from forebay.job j where j.id = lock_job.job_id;
    if job.id is null then
        perform forebay.refuse('FB004', 'job_id', format('there is no job %s', lock_job.job_id));
    end if;
    return job;
end $$;
