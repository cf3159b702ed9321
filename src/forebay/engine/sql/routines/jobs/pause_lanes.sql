-- Pauses or resumes the lanes of a job. Its own lane is locked first, by a statement of its own: key_lane_id() also locks it, so
-- the next statement sees all lanes of keys that were created before, and those created later have the new state.
create or replace function forebay.pause_lanes(job_id bigint, paused boolean) returns void
language plpgsql set enable_seqscan = off as $$
begin
    perform from forebay.lane l where l.job_id = pause_lanes.job_id and l.job_id <> 0 and l.limit_name = '' for no key update;
    update forebay.lane l set paused = pause_lanes.paused where l.job_id = pause_lanes.job_id and l.job_id <> 0;
end $$;
