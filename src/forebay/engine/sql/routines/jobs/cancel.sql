-- Cancels a job: no task of it starts any more, workers are told to stop running tasks, open items become SKIPPED. The
-- first 10,000 items end here, the rest in reap_cancelled(). The job ends with the last of its running tasks.
create or replace function forebay.cancel(job_id bigint, actor text default current_user, now timestamptz default null)
returns boolean language plpgsql as $$
#variable_conflict use_column
declare
    at timestamptz := coalesce(now, clock_timestamp());
    job forebay.job := forebay.lock_job(job_id);
begin
    if job.state = 'CANCELLED' then
        return false;
    end if;
    perform forebay.hold_order(array[job.id]);
    if job.finished_at is null then
        perform forebay.drop_runs(job);
        perform from forebay.lease l where l.job_id = job.id order by l.token for update;
        update forebay.lease l set cancelled = true where l.job_id = job.id;
        job.reaped := -1;
    end if;
    if job.finished_at is not null or forebay.end_open_items(job, 10000, at) is null then
        select j.* into job from forebay.job j where j.id = job.id;  -- it may have ended in the meantime
        perform forebay.refuse('FB005', 'job_id', format('job %s is %s: it has already ended', job.id, job.state));
    end if;
    -- Claims drop runs that still arrive in its lane, but only if the lane is not paused.
    perform forebay.pause_lanes(job.id, false);
    perform forebay.end_ordered_of(array[job.id], at);
    perform pg_notify('forebay', 'cancel ' || job.id);
    perform forebay.note(actor, 'cancel', job.owner_id, job.id, null, null, at);
    perform forebay.change_children(job, 'cancel', actor, at);
    return true;
end $$;
