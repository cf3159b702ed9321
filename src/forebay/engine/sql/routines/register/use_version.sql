-- Makes a version the present one: new jobs get it.
create or replace function forebay.use_version(pipeline_id int, version int, at timestamptz default null) returns void language plpgsql as $$
#variable_conflict use_column
begin
    update forebay.step s set active = false
    where s.pipeline_id = use_version.pipeline_id and s.active
      and not exists (select from forebay.version_step v where v.version_id = version and v.step_id = s.id);
    update forebay.step s set
        active = true, name = v.name, queue = v.queue, max_attempts = v.max_attempts, max_expiries = v.max_expiries,
        ordered = v.ordered
    from forebay.version_step v where v.version_id = version and s.id = v.step_id;
    update forebay.pipeline p set
        version_id = v.id, steps = v.steps, job_steps = v.job_steps, roots = v.roots, max_input_bytes = v.max_input_bytes,
        digest = v.digest, updated_at = coalesce(at, clock_timestamp())
    from forebay.pipeline_version v where p.id = use_version.pipeline_id and v.id = version;
end $$;
