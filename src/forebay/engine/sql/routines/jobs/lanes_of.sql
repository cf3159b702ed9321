-- All the lanes that runs of a job may be in: its own, and the one of its owner.
create or replace function forebay.lanes_of(job forebay.job) returns bigint[] language sql stable as $$
select array(select l.id from forebay.lane l where l.owner_id = job.owner_id and l.job_id in (0, job.id) union select job.lane_id)
$$;
