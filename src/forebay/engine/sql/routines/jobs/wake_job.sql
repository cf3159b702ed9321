-- Wakes workers for all ready tasks of a job.
create or replace function forebay.wake_job(job forebay.job, at timestamptz) returns void
language plpgsql set enable_seqscan = off as $$
begin
    perform forebay.pause_lanes(job.id, false);
    delete from forebay.busy_lane b using forebay.lane l where l.job_id = job.id and l.job_id <> 0 and b.lane_id = l.id;
    perform forebay.wake(s.id, l.id, r.seq, at)
    from unnest(forebay.steps_of(job)) s(id) cross join unnest(forebay.lanes_of(job)) l(id)
    cross join lateral (
        select r.seq from forebay.ready r where r.step_id = s.id and r.lane_id = l.id order by r.seq limit 1) r;
end $$;
