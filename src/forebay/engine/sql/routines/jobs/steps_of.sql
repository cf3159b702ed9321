-- All steps of a job's pipeline, in all its versions.
create or replace function forebay.steps_of(job forebay.job) returns int[] language sql stable as $$
select array(select s.id from forebay.step s where s.pipeline_id = job.pipeline_id)
$$;
