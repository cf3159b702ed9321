-- Submits the job that receives a file, once: in the receiving pipeline of its target.
create or replace function forebay.begin_receiving(
    target text, reference bigint, pipeline text, trace text default null, run_at timestamptz default null
) returns bigint language plpgsql as $$
#variable_conflict use_column
declare
    file forebay.intake_file;
    submitted bigint;
begin
    select f.* into strict file from forebay.intake_file f
    where f.target = begin_receiving.target and f.reference = begin_receiving.reference for update;
    if file.intake_job_id is not null then
        return file.intake_job_id;
    end if;
    select s.job_id into strict submitted from forebay.submit(
        forebay.traced(pipeline, trace), jsonb_build_object('reference', file.reference),
        (select o.name from forebay.owner o where o.id = file.owner_id), file.target || ' ' || file.reference,
        (select j.priority from forebay.job j where j.id = file.job_id),
        begin_receiving.run_at, false, jsonb_build_object('jobId', file.job_id::text, 'file', file.name)) s;
    update forebay.intake_file f set intake_job_id = submitted where f.target = file.target and f.reference = file.reference;
    return submitted;
end $$;
