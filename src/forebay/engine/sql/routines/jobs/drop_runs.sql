-- Deletes all unclaimed runs of a job.
create or replace function forebay.drop_runs(job forebay.job) returns void
language plpgsql set enable_seqscan = off as $$
begin
    delete from forebay.ready r
    where r.step_id = any(forebay.steps_of(job)) and r.lane_id = any(forebay.lanes_of(job)) and r.job_id = job.id;
    delete from forebay.scheduled s where s.job_id = job.id;
end $$;
