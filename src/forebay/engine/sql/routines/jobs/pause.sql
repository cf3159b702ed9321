-- Pauses a job: its lane is not claimed from, and claims that find its runs in other lanes move them there. Running tasks end.
create or replace function forebay.pause(job_id bigint, actor text default current_user, now timestamptz default null)
returns boolean language plpgsql as $$
#variable_conflict use_column
declare
    at timestamptz := coalesce(now, clock_timestamp());
    job forebay.job := forebay.lock_job(job_id);
    own_lane bigint;
begin
    select j.* into job from forebay.job j where j.id = job.id for no key update;
    if job.state = 'PAUSED' then
        return false;
    elsif job.state not in ('QUEUED', 'RUNNING') then
        perform forebay.refuse('FB005', 'job_id', format('job %s is %s: only a job that has not ended can be paused', job.id, job.state));
    end if;
    own_lane := forebay.lane_id(job.owner_id, job.id, job.priority);
    perform forebay.pause_lanes(job.id, true);
    update forebay.job j set state = 'PAUSED', lane_id = own_lane, updated_at = at where j.id = job.id;
    perform forebay.note(actor, 'pause', job.owner_id, job.id, null, null, at);
    perform forebay.change_children(job, 'pause', actor, at);
    return true;
end $$;
