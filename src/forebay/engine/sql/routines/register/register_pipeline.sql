-- Records a definition of a pipeline as a version of it, once, and returns the step ids of that version.
-- A new version takes all jobs from now on. One that is known stays behind the present one, so that a worker of an old
-- release that restarts takes nothing back; it becomes the present one again when the workers of that have all stopped (see
-- use_served_versions), or when `apply` says so.
-- definition: {"name", "max_input_bytes", "steps": [{"name", "renamed_from", "after": [name…], "optional", "after_all", "queue",
-- "max_attempts", "max_expiries"}]} with each step behind those it comes after.
create or replace function forebay.register_pipeline(definition jsonb, apply boolean default false, now timestamptz default null)
returns table (version_id int, name text, step_id int, is_present boolean) language plpgsql as $$
#variable_conflict use_column
declare
    at timestamptz := coalesce(now, clock_timestamp());
    pipe forebay.pipeline;
    version int;
begin
    -- Of this pipeline only: a submit that registers keeps it until its caller's transaction ends, and no other worker may
    -- wait for that.
    perform pg_advisory_xact_lock(hashtextextended('forebay.register ' || (definition ->> 'name'), 4662));
    insert into forebay.pipeline (name) values (definition ->> 'name') on conflict do nothing;
    select * into strict pipe from forebay.pipeline p where p.name = definition ->> 'name';
    select v.id into version from forebay.pipeline_version v where v.pipeline_id = pipe.id and v.digest = md5(definition::text);
    if version is null then
        version := forebay.add_version(pipe, definition);
        perform forebay.use_version(pipe.id, version, at);
    elsif version <> pipe.version_id and (apply or not forebay.keeps_new_jobs(pipe, at)) then
        perform forebay.use_version(pipe.id, version, at);
    end if;
    return query
    select s.version_id, s.name, s.step_id, p.version_id = version
    from forebay.version_step s join forebay.pipeline p on p.id = pipe.id where s.version_id = version order by s.place;
end $$;
