-- Resumes a paused job.
create or replace function forebay.resume(job_id bigint, actor text default current_user, now timestamptz default null)
returns boolean language plpgsql as $$
#variable_conflict use_column
declare
    at timestamptz := coalesce(now, clock_timestamp());
    job forebay.job := forebay.lock_job(job_id);
begin
    select j.* into job from forebay.job j where j.id = job.id for no key update;
    if job.state in ('QUEUED', 'RUNNING') then
        return false;
    elsif job.state <> 'PAUSED' then
        perform forebay.refuse('FB005', 'job_id', format('job %s is %s: only a paused job can be resumed', job.id, job.state));
    end if;
    -- Items that ended during the pause count, too.
    job.started_at := coalesce(job.started_at, (select a.started_at from forebay.attempt a where a.job_id = job.id limit 1),
                               (select l.claimed_at from forebay.lease l where l.job_id = job.id limit 1));
    update forebay.job j set state = case when job.started_at is null then 'QUEUED' else 'RUNNING' end::forebay.job_state,
                             started_at = job.started_at, pace = null, updated_at = at
    where j.id = job.id;
    perform forebay.wake_job(job, at);
    perform forebay.note(actor, 'resume', job.owner_id, job.id, null, null, at);
    perform forebay.change_children(job, 'resume', actor, at);
    return true;
end $$;
