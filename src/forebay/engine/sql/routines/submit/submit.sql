-- Submits one item as one job. With coalesce, it replaces the input of a job of the same key that has not begun; run_at is then
-- at most max_wait after the first of these submits. A job that has the key is returned instead, while it holds it: see holds_key.
create or replace function forebay.submit(
    pipeline text, input jsonb, owner text default 'default', key text default null, priority int default 0,
    run_at timestamptz default null, "coalesce" boolean default false, meta jsonb default null,
    now timestamptz default null, max_wait interval default null,
    unique_states forebay.job_state[] default null, unique_period interval default null,
    out job_id bigint, out created boolean
) language plpgsql as $$
#variable_conflict use_column
declare
    at timestamptz := coalesce(now, clock_timestamp());
    opened record;
    root int;
    seq bigint;
    size int;
    told text;
begin
    if input is null then
        perform forebay.refuse('FB002', 'input', 'must be a JSON value, not an SQL null');
    end if;
    if max_wait is not null or unique_states is not null or unique_period is not null then  -- one look in the usual case
        if max_wait < interval '0' then
            perform forebay.refuse('FB002', 'max_wait', 'must not be negative');
        elsif max_wait is not null and "coalesce" is not true then
            perform forebay.refuse('FB002', 'max_wait', 'is for coalesce only');
        elsif unique_states is not null or unique_period is not null then
            if key is null then
                perform forebay.refuse('FB002', 'key', 'is required for unique');
            elsif "coalesce" then
                perform forebay.refuse('FB002', 'unique', 'cannot be given together with coalesce');
            end if;
        end if;
    end if;
    if "coalesce" then
        if key is null then
            perform forebay.refuse('FB002', 'key', 'is required for coalesce');
        end if;
        -- Two submits of one key must see each other, so they take turns.
        perform pg_advisory_xact_lock(hashtextextended(pipeline || chr(31) || owner || chr(31) || key, 4662));
        perform forebay.check_priority(priority);
        job_id := forebay.replace_pending(pipeline, owner, key, input, priority, run_at, meta, at, max_wait);
        if job_id is not null then
            created := false;
            return;
        end if;
        if run_at is not null then
            run_at := least(run_at, at + max_wait);
        end if;
    end if;
    if key is null and run_at is null then
        job_id := forebay.submit_ready(pipeline, input, owner, priority, meta, at);
        if job_id is not null then
            created := true;
            return;
        end if;
    end if;
    opened := forebay.open_job(pipeline, owner, key, priority, 1, true, meta, at, "coalesce", unique_states, unique_period);
    job_id := opened.job_id;
    created := opened.created;
    if not created then
        return;
    end if;
    size := octet_length(input::text);
    if run_at is not null or size > opened.max_input_bytes then
        perform forebay.check_submission(size, opened.max_input_bytes, 'input', run_at, at);
    end if;
    if size > 200 then  -- what is shorter is not nested so deeply
        perform forebay.check_nesting(input, 'input');
    end if;
    insert into forebay.item (job_id, n, owner_id, pipeline_id, input, created_at, updated_at)
    values (submit.job_id, 1, opened.owner_id, opened.pipeline_id, input, at, at);
    if run_at > at or "coalesce" then
        perform forebay.enqueue(job_id, 1, 1, run_at, at);
        return;
    end if;
    foreach root in array opened.roots loop  -- as enqueue does, without asking again what is known already
        insert into forebay.ready (step_id, lane_id, job_id, owner_id, first_n, last_n)
        values (root, opened.lane_id, submit.job_id, opened.owner_id, 1, 1) returning ready.seq into seq;
        if root <> all(opened.busy_steps) then
            -- An assignment is evaluated without a query, which is cheaper than PERFORM.
            told := pg_notify('forebay', 'ready ' || root || ' ' || opened.lane_id || ' ' || seq);
        end if;
    end loop;
end $$;
