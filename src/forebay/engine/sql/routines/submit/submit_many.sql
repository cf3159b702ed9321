-- Submits many items as one job. Items whose key is already there are left out; nothing is aborted by them.
create or replace function forebay.submit_many(
    pipeline text, inputs jsonb[], owner text default 'default', key text default null, priority int default 0,
    run_at timestamptz default null, keys text[] default null, meta jsonb default null, now timestamptz default null,
    unique_states forebay.job_state[] default null, unique_period interval default null,
    out job_id bigint, out created boolean, out items int
) language plpgsql as $$
#variable_conflict use_column
declare
    opened record;
    at timestamptz := coalesce(now, clock_timestamp());
    too_large record;
begin
    if inputs is null or array_position(inputs, null) is not null then
        perform forebay.refuse('FB002', 'inputs', 'must be JSON values, not SQL nulls');
    elsif keys is not null and cardinality(keys) <> cardinality(inputs) then
        perform forebay.refuse('FB002', 'keys', 'must have as many entries as inputs');
    elsif keys is not null then
        perform forebay.refuse('FB002', 'keys[' || k.place - 1 || ']', 'must have 1 to 500 characters')
        from unnest(keys) with ordinality k(key, place) where length(k.key) not between 1 and 500;
    end if;
    opened := forebay.open_job(pipeline, owner, key, priority, cardinality(inputs), true, meta, at, false, unique_states, unique_period);
    job_id := opened.job_id;
    created := opened.created;
    items := opened.total;
    if not created then
        return;
    end if;
    select i.place, octet_length(i.input::text) as size into too_large
    from unnest(inputs) with ordinality as i(input, place)
    order by size desc limit 1;
    perform forebay.check_submission(too_large.size, opened.max_input_bytes, 'inputs[' || too_large.place - 1 || ']', run_at, at);
    if too_large.size > 200 then  -- what is shorter is not nested so deeply
        perform forebay.check_nesting(i.input, 'inputs[' || i.place - 1 || ']')
        from unnest(inputs) with ordinality as i(input, place) where i.input @? '$.**{100}';
    end if;
    insert into forebay.item (job_id, n, owner_id, pipeline_id, key, input, created_at, updated_at)
    select submit_many.job_id, row_number() over (order by place), opened.owner_id, opened.pipeline_id, i.key, i.input, at, at
    from (select distinct on (coalesce(k.key, k.place::text), k.key is null) k.*
          from unnest(inputs, keys) with ordinality as k(input, key, place)
          order by coalesce(k.key, k.place::text), k.key is null, k.place) i;
    get diagnostics items = row_count;
    if items = 0 then  -- nothing to wait for
        update forebay.job j set state = 'DONE', finished_at = at, started_at = at, updated_at = at where j.id = submit_many.job_id;
        return;
    end if;
    if items <> opened.total then
        update forebay.job j set total = items where j.id = submit_many.job_id;
    end if;
    perform forebay.enqueue(job_id, 1, items, run_at, at);
end $$;
