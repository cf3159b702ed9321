-- Whether a job keeps its key, so that a submit with this key returns it: it is in one of these states, and was submitted less
-- than `period` ago (null: in any state, for ever). A job runs as soon as a worker has one of its tasks.
create or replace function forebay.holds_key(
    job forebay.job, states forebay.job_state[], period interval, now timestamptz
) returns boolean language plpgsql stable as $$
begin
    if period is not null and job.created_at <= now - period then
        return false;
    elsif states is null then
        return true;
    elsif job.state = 'QUEUED' and exists (select from forebay.lease l where l.job_id = job.id) then
        return 'RUNNING' = any(states);
    end if;
    return job.state = any(states);
end $$;
