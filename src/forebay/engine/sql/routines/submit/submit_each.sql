-- Internal to the API, which joins submits that arrive together; programs call submit_jobs. Submits each input as a job of its
-- own, as submit does without a key and a time, and answers the jobs in the order of the inputs. A job costs a fraction of what
-- a submit of its own costs, and workers are told once of all of them.
create or replace function forebay.submit_each(
    pipeline text, inputs jsonb[], owner text default 'default', priority int default 0, now timestamptz default null
) returns setof bigint language plpgsql as $$
#variable_conflict use_column
declare
    at timestamptz := coalesce(now, clock_timestamp());
    known record;
    jobs bigint[];
    run record;
begin
    select p.id as pipeline_id, p.version_id, p.max_input_bytes, p.roots, p.steps, p.job_steps, o.id as owner_id,
           l.id as lane_id, array(select b.step_id from forebay.busy_lane b where b.lane_id = l.id and b.until > at) as busy_steps
    into known
    from forebay.pipeline p join forebay.owner o on o.name = submit_each.owner
    join forebay.lane l on l.owner_id = o.id and l.job_id = 0 and l.priority = submit_each.priority and l.limit_name = ''
    where p.name = submit_each.pipeline;
    if known.lane_id is null or exists (
        select from unnest(inputs) i
        where i is null or octet_length(i::text) > known.max_input_bytes or octet_length(i::text) > 200 and i @? '$.**{100}')
    then  -- a first submit, or one to be rejected
        return query
            select s.job_id from unnest(inputs) with ordinality i(input, place)
            cross join lateral forebay.submit(pipeline, i.input, owner, priority => submit_each.priority, now => at) s
            order by i.place;
        return;
    end if;
    with made as (
        insert into forebay.job as j
            (owner_id, pipeline_id, version_id, priority, steps, job_steps, lane_id, total, first_seq, created_at, updated_at)
        select known.owner_id, known.pipeline_id, known.version_id, submit_each.priority, known.steps, known.job_steps,
               known.lane_id, 1, nextval('forebay.seq'), at, at
        from generate_series(1, cardinality(inputs))
        returning j.id)
    select array_agg(m.id order by m.id) into jobs from made m;
    insert into forebay.item (job_id, n, owner_id, pipeline_id, input, created_at, updated_at)
    select jobs[i.place], 1, known.owner_id, known.pipeline_id, i.input, at, at
    from unnest(inputs) with ordinality i(input, place);
    for run in
        with runs as (
            insert into forebay.ready as r (step_id, lane_id, job_id, owner_id, first_n, last_n)
            select s.step_id, known.lane_id, j.id, known.owner_id, 1, 1
            from unnest(known.roots) s(step_id) cross join unnest(jobs) j(id)
            order by s.step_id, j.id
            returning r.step_id, r.seq)
        select r.step_id, min(r.seq) as first_seq from runs r group by r.step_id
    loop
        if run.step_id <> all(known.busy_steps) then
            perform pg_notify('forebay', 'ready ' || run.step_id || ' ' || known.lane_id || ' ' || run.first_seq);
        end if;
    end loop;
    return query select j from unnest(jobs) j;
end $$;
