-- Adds a file that comes in for a target without rows of its own: the reference is the number of the job.
create or replace function forebay.add_intake_file(
    target text, pipelines text[], owner_id bigint, name text, size bigint, options jsonb, source text default null,
    path text default null, version text default null, key text default null, priority int default 0, meta jsonb default null,
    trace text default null,
    out reference bigint, out job_id bigint, out created boolean
) language plpgsql as $$
#variable_conflict use_column
begin
    select o.reference, o.job_id, o.created into reference, job_id, created from forebay.open_intake(
        target, pipelines, owner_id, name, source, path, version, key, priority, meta, trace) o;
    if created then
        reference := job_id;
        insert into forebay.intake_file (target, reference, owner_id, job_id, name, size, options, source, path, version)
        values (add_intake_file.target, add_intake_file.reference, add_intake_file.owner_id, add_intake_file.job_id,
                add_intake_file.name, add_intake_file.size, add_intake_file.options, add_intake_file.source,
                add_intake_file.path, add_intake_file.version);
    end if;
end $$;
