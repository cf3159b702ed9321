-- The lane for new runs of a job; created again if it was deleted while idle. Null if the job does not exist.
create or replace function forebay.lane_of(job_id bigint) returns bigint language plpgsql as $$
declare
    job forebay.job;
    found_id bigint;
begin
    select j.* into job from forebay.job j where j.id = lane_of.job_id;
    if job.id is null or exists (select from forebay.lane l where l.id = job.lane_id) then
        return job.lane_id;
    end if;
    found_id := forebay.lane_id(
        job.owner_id, case when job.total > 1000 or not job.sealed or job.state = 'PAUSED' then job.id else 0 end, job.priority);
    if job.state = 'PAUSED' then
        update forebay.lane l set paused = true where l.id = found_id;
    end if;
    update forebay.job j set lane_id = found_id where j.id = job.id;
    return found_id;
end $$;
