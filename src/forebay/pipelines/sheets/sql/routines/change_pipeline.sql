-- Makes a job that has no items yet one of another pipeline: what a file is, is known only when it is read.
create or replace function forebay.change_pipeline(job_id bigint, pipeline text) returns void language plpgsql as $$
#variable_conflict use_column
begin
    update forebay.job j set pipeline_id = p.id, version_id = p.version_id, steps = p.steps, job_steps = p.job_steps
    from forebay.pipeline p
    where j.id = change_pipeline.job_id and p.name = change_pipeline.pipeline and j.pipeline_id <> p.id and j.total = 0 and not j.sealed;
end $$;
