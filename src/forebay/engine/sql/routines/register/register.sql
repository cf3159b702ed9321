-- Registers the steps of a pipeline and their dependencies; registering the same definition again writes nothing.
-- definition: {"name", "max_input_bytes", "steps": [{"name", "after": [name…], "optional", "after_all", "queue",
-- "max_attempts", "max_expiries"}]}; each step follows those in its `after`.
create or replace function forebay.register(definition jsonb) returns int
language plpgsql as $$
#variable_conflict use_column
declare
    pipe forebay.pipeline;
    declared jsonb;
    taken bigint;
begin
    -- The lock is per pipeline: a submit that registers a pipeline holds it until its caller's transaction ends, and workers
    -- with other pipelines must not wait for that.
    perform pg_advisory_xact_lock(hashtextextended('forebay.register ' || (definition ->> 'name'), 4662));
    insert into forebay.pipeline (name) values (definition ->> 'name') on conflict do nothing;
    select * into strict pipe from forebay.pipeline p where p.name = definition ->> 'name';
    if pipe.digest = md5(definition::text) then
        return pipe.id;
    end if;
    update forebay.step s set active = false where s.pipeline_id = pipe.id;
    for declared in select * from jsonb_array_elements(definition -> 'steps') loop
        insert into forebay.queue (name) values (declared ->> 'queue') on conflict do nothing;
        select coalesce(bit_or(s.bit), 0) into taken from forebay.step s where s.pipeline_id = pipe.id;
        insert into forebay.step as s
            (pipeline_id, name, bit, needs, optional, after_all, active, queue, max_attempts, max_expiries)
        select pipe.id, declared ->> 'name',
               (select 1::bigint << b from generate_series(0, 62) b where taken & (1::bigint << b) = 0 order by b limit 1),
               (select coalesce(bit_or(u.bit), 0) from forebay.step u
                where u.pipeline_id = pipe.id and u.name in (select jsonb_array_elements_text(declared -> 'after'))),
               (declared ->> 'optional')::boolean, (declared ->> 'after_all')::boolean, true, declared ->> 'queue',
               (declared ->> 'max_attempts')::smallint, (declared ->> 'max_expiries')::smallint
        on conflict (pipeline_id, name) do update set
            needs = excluded.needs, optional = excluded.optional, after_all = excluded.after_all, active = true,
            queue = excluded.queue, max_attempts = excluded.max_attempts, max_expiries = excluded.max_expiries;
    end loop;
    -- The steps that cannot run if a step is dead: its dependents, recursively.
    update forebay.step s set downstream = (
        with recursive below as (
            select s.bit
            union
            select d.bit from below b join forebay.step d
                on d.pipeline_id = pipe.id and d.active and d.needs & b.bit <> 0)
        select coalesce(bit_or(b.bit), 0) & ~s.bit from below b)
    where s.pipeline_id = pipe.id;
    update forebay.pipeline p set
        steps = (select coalesce(bit_or(s.bit), 0) from forebay.step s where s.pipeline_id = p.id and s.active and not s.after_all),
        job_steps = (select coalesce(bit_or(s.bit), 0) from forebay.step s where s.pipeline_id = p.id and s.active and s.after_all),
        roots = array(select s.id from forebay.step s
                      where s.pipeline_id = p.id and s.active and not s.after_all and s.needs = 0 order by s.bit),
        max_input_bytes = coalesce((definition ->> 'max_input_bytes')::int, p.max_input_bytes),
        digest = md5(definition::text),
        updated_at = clock_timestamp()
    where p.id = pipe.id;
    return pipe.id;
end $$;
