-- Adds a version of a pipeline, with the steps of its definition. Returns its id.
create or replace function forebay.add_version(pipe forebay.pipeline, definition jsonb) returns int language plpgsql as $$
#variable_conflict use_column
declare
    version int;
    declared jsonb;
    found_place int;
    found_bit bigint;
    found_needs bigint;
    found_optional bigint;
    found_step int;
begin
    insert into forebay.pipeline_version (pipeline_id, digest, steps, job_steps, roots, max_input_bytes)
    values (pipe.id, md5(definition::text), 0, 0, '{}', coalesce((definition ->> 'max_input_bytes')::int, pipe.max_input_bytes))
    returning id into version;
    for declared, found_place in select * from jsonb_array_elements(definition -> 'steps') with ordinality loop
        insert into forebay.queue (name) values (declared ->> 'queue') on conflict do nothing;
        found_bit := forebay.bit_of_step(pipe, version, declared ->> 'name', declared ->> 'renamed_from', array(
            select n.name from jsonb_array_elements(definition -> 'steps') s(step)
            cross join lateral (values (s.step ->> 'name'), (s.step ->> 'renamed_from')) n(name)
            where s.step ->> 'name' <> declared ->> 'name'));
        select coalesce(bit_or(s.bit), 0), coalesce(bit_or(s.bit) filter (where s.optional), 0)
        into found_needs, found_optional
        from forebay.version_step s
        where s.version_id = version and s.name in (select jsonb_array_elements_text(declared -> 'after'));
        insert into forebay.step as s
            (pipeline_id, name, bit, needs, optional_needs, after_all, active, queue, max_attempts, max_expiries, ordered)
        values (pipe.id, declared ->> 'name', found_bit, found_needs, found_optional, (declared ->> 'after_all')::boolean, false,
                declared ->> 'queue', (declared ->> 'max_attempts')::smallint, (declared ->> 'max_expiries')::smallint,
                coalesce((declared ->> 'ordered')::boolean, false))
        on conflict on constraint step_variant do update set name = s.name
        returning s.id into found_step;
        insert into forebay.version_step
            (version_id, bit, step_id, name, place, needs, downstream, optional, after_all, queue, max_attempts, max_expiries, ordered)
        values (version, found_bit, found_step, declared ->> 'name', found_place, found_needs, 0, (declared ->> 'optional')::boolean,
                (declared ->> 'after_all')::boolean, declared ->> 'queue', (declared ->> 'max_attempts')::smallint,
                (declared ->> 'max_expiries')::smallint, coalesce((declared ->> 'ordered')::boolean, false));
    end loop;
    -- What dies with a step: its dependents, and theirs.
    update forebay.version_step s set downstream = (
        with recursive below as (
            select s.bit
            union
            select d.bit from below b join forebay.version_step d on d.version_id = version and d.needs & b.bit <> 0)
        select coalesce(bit_or(b.bit), 0) & ~s.bit from below b)
    where s.version_id = version;
    update forebay.pipeline_version v set
        steps = (select coalesce(bit_or(s.bit), 0) from forebay.version_step s where s.version_id = v.id and not s.after_all),
        job_steps = (select coalesce(bit_or(s.bit), 0) from forebay.version_step s where s.version_id = v.id and s.after_all),
        roots = array(select s.step_id from forebay.version_step s
                      where s.version_id = v.id and not s.after_all and s.needs = 0 order by s.place)
    where v.id = version;
    return version;
end $$;
