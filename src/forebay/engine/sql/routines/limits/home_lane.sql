-- The lane of a job's run that is not the lane of a key: the given one, or the job's.
create or replace function forebay.home_lane(lane_id bigint, job forebay.job) returns bigint language sql stable as $$
select case when exists (select from forebay.lane l where l.id = lane_id and l.limit_name <> '') then job.lane_id else lane_id end
$$;
