-- Deletes the unclaimed runs of a cancelled job from its own lane. Those in the lane of its owner remain, and claims drop them:
-- to find them would cost a scan of everything that the owner has queued.
create or replace function forebay.drop_runs(job forebay.job) returns void
language plpgsql set enable_seqscan = off as $$
begin
    delete from forebay.ready r
    where r.step_id = any(forebay.steps_of(job)) and r.job_id = job.id
      and r.lane_id = any(array(select l.id from forebay.lane l where l.job_id = job.id and l.job_id <> 0));
    delete from forebay.scheduled s where s.job_id = job.id;
end $$;
