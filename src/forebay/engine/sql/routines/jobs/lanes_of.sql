-- All lanes that may contain runs of a job: its own, its owner's, and those of keys of limits that either has.
create or replace function forebay.lanes_of(job forebay.job) returns bigint[] language sql stable as $$
select array(select l.id from forebay.lane l where l.owner_id = job.owner_id and l.job_id in (0, job.id) union select job.lane_id)
$$;
