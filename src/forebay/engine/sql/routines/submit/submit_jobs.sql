-- Submits each input as a job of its own, all in one statement. keys: the key of each job, or null. A job that holds the key
-- (see holds_key) is returned and left unchanged, also when the key is there twice in one call. A job costs a fraction of what a
-- submit of its own costs, and workers are told once of all of them.
create or replace function forebay.submit_jobs(
    pipeline text, inputs jsonb[], owner text default 'default', keys text[] default null, priority int default 0,
    run_at timestamptz default null, meta jsonb default null, now timestamptz default null,
    unique_states forebay.job_state[] default null, unique_period interval default null,
    out job_ids bigint[], out created boolean[]
) language plpgsql as $$
#variable_conflict use_column
declare
    at timestamptz := coalesce(now, clock_timestamp());
    pipe forebay.pipeline;
    of_owner bigint;
    lane bigint;
    largest record;
    run record;
    new_places int[];
    new_jobs bigint[];
begin
    job_ids := '{}';
    created := '{}';
    if inputs is null or array_position(inputs, null) is not null then
        perform forebay.refuse('FB002', 'inputs', 'must be JSON values, not SQL nulls');
    elsif keys is not null and cardinality(keys) <> cardinality(inputs) then
        perform forebay.refuse('FB002', 'keys', 'must have as many entries as inputs');
    elsif keys is null and (unique_states is not null or unique_period is not null) then
        perform forebay.refuse('FB002', 'keys', 'are required for unique');
    elsif unique_states = '{}' then
        perform forebay.refuse('FB002', 'unique_states', 'must name at least one state');
    end if;
    select p.* into pipe from forebay.pipeline p where p.name = submit_jobs.pipeline;
    if pipe.id is null then
        perform forebay.refuse('FB001', 'pipeline', format(
            'there is no pipeline %L here: start its worker, or run `forebay migrate --pipelines MODULE`', pipeline));
    end if;
    perform forebay.check_priority(priority), forebay.check_nesting(meta, 'meta');
    perform forebay.refuse('FB002', 'keys[' || k.place - 1 || ']', 'must have 1 to 500 characters')
    from unnest(keys) with ordinality k(key, place) where length(k.key) not between 1 and 500;
    if cardinality(inputs) = 0 then
        return;
    end if;
    select i.place, octet_length(i.input::text) as size into largest
    from unnest(inputs) with ordinality as i(input, place) order by size desc limit 1;
    perform forebay.check_submission(largest.size, pipe.max_input_bytes, 'inputs[' || largest.place - 1 || ']', run_at, at);
    if largest.size > 200 then  -- what is shorter is not nested so deeply
        perform forebay.check_nesting(i.input, 'inputs[' || i.place - 1 || ']')
        from unnest(inputs) with ordinality as i(input, place) where i.input @? '$.**{100}';
    end if;
    of_owner := forebay.owner_id(owner);
    lane := forebay.lane_id(of_owner, 0, priority::smallint);
    if keys is null or array_remove(keys, null) = '{}' then  -- each input becomes a job, in the order of the inputs
        with made as (
            insert into forebay.job as j
                (owner_id, pipeline_id, version_id, priority, steps, job_steps, meta, lane_id, total, first_seq, created_at, updated_at)
            select of_owner, pipe.id, pipe.version_id, submit_jobs.priority, pipe.steps, pipe.job_steps, submit_jobs.meta, lane,
                   1, nextval('forebay.seq'), at, at
            from generate_series(1, cardinality(inputs))
            returning j.id)
        select array_agg(m.id order by m.id), array_agg(true) into job_ids, created from made m;
        insert into forebay.item (job_id, n, owner_id, pipeline_id, input, created_at, updated_at)
        select i.job_id, 1, of_owner, pipe.id, i.input, at, at from unnest(job_ids, inputs) i(job_id, input);
        if run_at > at then
            insert into forebay.scheduled (run_at, step_id, lane_id, job_id, owner_id, first_n, last_n)
            select submit_jobs.run_at, root, lane, j.id, of_owner, 1, 1
            from unnest(pipe.roots) root cross join unnest(job_ids) j(id);
            return;
        end if;
        for run in
            with queued as (
                insert into forebay.ready as r (step_id, lane_id, job_id, owner_id, first_n, last_n)
                select root, lane, j.id, of_owner, 1, 1 from unnest(pipe.roots) root cross join unnest(job_ids) j(id)
                order by root, j.id
                returning r.step_id, r.seq)
            select q.step_id, min(q.seq) as first_seq from queued q group by q.step_id
        loop
            perform forebay.wake(run.step_id, lane, run.first_seq, at);
        end loop;
        return;
    end if;
    with given as materialized (
        select g.input, g.key, g.place, row_number() over (partition by g.key order by g.place) as turn
        from unnest(inputs, keys) with ordinality as g(input, key, place)
    ),
    holders as materialized (  -- the last job with each key
        select g.key, (h.job).key_turn, forebay.holds_key(h.job, unique_states, unique_period, at) as holds
        from given g cross join lateral (
            select j as job from forebay.job j
            where j.pipeline_id = pipe.id and j.owner_id = of_owner and j.key = g.key and not j.coalesces
            order by j.key_turn desc limit 1) h
        where g.turn = 1 and g.key is not null
    ),
    opened as materialized (  -- in the order of keys: two calls with the same keys must not wait for each other
        insert into forebay.job as j
            (owner_id, pipeline_id, version_id, priority, steps, job_steps, key, key_turn, meta, lane_id, total, first_seq,
             created_at, updated_at)
        select of_owner, pipe.id, pipe.version_id, submit_jobs.priority, pipe.steps, pipe.job_steps, g.key,
               coalesce(h.key_turn + 1, 0), submit_jobs.meta, lane, 1, nextval('forebay.seq'), at, at
        from given g left join holders h on h.key = g.key
        where g.key is null or g.turn = 1 and h.holds is not true
        order by g.key, g.place
        on conflict (pipeline_id, owner_id, key, key_turn) where key is not null and not coalesces do nothing
        returning j.id, j.key
    ),
    made as materialized (
        select g.place, g.input, o.id from given g join opened o on o.key = g.key where g.turn = 1
        union all  -- jobs without a key differ in nothing but their number
        select g.place, g.input, o.id
        from given g
        join (select o.id, row_number() over (order by o.id) as turn from opened o where o.key is null) o on o.turn = g.turn
        where g.key is null
    ),
    stored as (
        insert into forebay.item (job_id, n, owner_id, pipeline_id, input, created_at, updated_at)
        select m.id, 1, of_owner, pipe.id, m.input, at, at from made m
    ),
    later as (
        insert into forebay.scheduled (run_at, step_id, lane_id, job_id, owner_id, first_n, last_n)
        select submit_jobs.run_at, root, lane, m.id, of_owner, 1, 1
        from made m cross join unnest(pipe.roots) root where submit_jobs.run_at > at
    ),
    queued as (
        insert into forebay.ready (step_id, lane_id, job_id, owner_id, first_n, last_n)
        select root, lane, m.id, of_owner, 1, 1
        from made m cross join unnest(pipe.roots) root where submit_jobs.run_at is null or submit_jobs.run_at <= at
        order by m.place
        returning step_id, seq
    ),
    told as (
        select count(forebay.wake(w.step_id, lane, w.seq, at))
        from (select q.step_id, min(q.seq) as seq from queued q group by q.step_id) w
    )
    select array_agg(m.place), array_agg(m.id) into new_places, new_jobs from made m, told;
    select array_agg(coalesce(n.id, j.id) order by g.place), array_agg(n.id is not null order by g.place) into job_ids, created
    from unnest(inputs, keys) with ordinality as g(input, key, place)
    left join unnest(new_places, new_jobs) as n(place, id) on n.place = g.place
    left join lateral (
        select j.id from forebay.job j
        where n.id is null and j.pipeline_id = pipe.id and j.owner_id = of_owner and j.key = g.key and not j.coalesces
        order by j.key_turn desc limit 1) j on true;
end $$;
