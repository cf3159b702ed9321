-- The doors: everything that creates work goes through these functions, in the caller's transaction.
-- Errors carry an SQLSTATE of class FB and name the field (column_name): see forebay.errors.

create or replace function forebay.refuse(code text, field text, reason text) returns void
language plpgsql as $$
begin
    raise exception '%: %', field, reason using errcode = code, column = field;
end $$;

-- The name of a pipeline, after saying which trace the jobs of this transaction belong to: as an argument of what makes them
-- it costs no statement of its own. Null: as the session says.
create or replace function forebay.traced(pipeline text, trace text) returns text
language sql as $$
    select case when trace is null or set_config('forebay.trace', trace, true) is not null then pipeline end
$$;

-- The owner's id; the owner is made when it is new.
create or replace function forebay.owner_id(owner text) returns bigint
language plpgsql as $$
declare found_id bigint;
begin
    select o.id into found_id from forebay.owner o where o.name = owner_id.owner;
    if found_id is null then
        if owner is null or length(owner) not between 1 and 200 then
            perform forebay.refuse('FB002', 'owner', 'must have 1 to 200 characters');
        end if;
        insert into forebay.owner (name) values (owner) on conflict do nothing;
        select o.id into strict found_id from forebay.owner o where o.name = owner_id.owner;
    end if;
    return found_id;
end $$;

-- The lane that an owner's small jobs share (job = 0), or that one job has for itself.
create or replace function forebay.lane_id(owner_id bigint, job_id bigint, priority smallint) returns bigint
language plpgsql as $$
declare found_id bigint;
begin
    select l.id into found_id from forebay.lane l
    where l.owner_id = lane_id.owner_id and l.job_id = lane_id.job_id and l.priority = lane_id.priority;
    if found_id is null then
        insert into forebay.lane (owner_id, job_id, priority) values (owner_id, job_id, priority) on conflict do nothing;
        select l.id into strict found_id from forebay.lane l
        where l.owner_id = lane_id.owner_id and l.job_id = lane_id.job_id and l.priority = lane_id.priority;
    end if;
    return found_id;
end $$;

-- Wakes the workers for one step of one lane, unless they are in the middle of that lane's backlog.
create or replace function forebay.wake(step_id int, lane_id bigint, seq bigint, at timestamptz) returns void
language plpgsql as $$
begin
    if exists (select from forebay.lane l where l.id = lane_id and l.busy_until <= at and not l.paused) then
        perform pg_notify('forebay', 'ready ' || step_id || ' ' || lane_id || ' ' || seq);
    end if;
end $$;

-- Makes the items first_n … last_n of a job claimable, now or at run_at, in runs that workers can share.
create or replace function forebay.enqueue(
    job_id bigint, first_n int, last_n int, run_at timestamptz default null, now timestamptz default null
) returns bigint
language plpgsql as $$
#variable_conflict use_column
declare
    job forebay.job;
    at timestamptz := coalesce(now, clock_timestamp());
    root int;
    first_seq bigint;
    next_seq bigint;
begin
    select * into strict job from forebay.job j where j.id = enqueue.job_id;
    for root in
        select s.id from forebay.step s
        where s.pipeline_id = job.pipeline_id and s.needs = 0 and s.active and not s.after_all and job.steps & s.bit <> 0
        order by s.bit
    loop
        if run_at > at then
            insert into forebay.scheduled (run_at, step_id, lane_id, job_id, owner_id, first_n, last_n)
            select enqueue.run_at, root, job.lane_id, job.id, job.owner_id, f, least(f + 499, enqueue.last_n)
            from generate_series(enqueue.first_n, enqueue.last_n, 500) f;
            next_seq := 0;
        elsif first_n = last_n then
            insert into forebay.ready (step_id, lane_id, job_id, owner_id, first_n, last_n)
            values (root, job.lane_id, job.id, job.owner_id, first_n, last_n) returning seq into next_seq;
        else
            with runs as (
                insert into forebay.ready (step_id, lane_id, job_id, owner_id, first_n, last_n)
                select root, job.lane_id, job.id, job.owner_id, f, least(f + 499, enqueue.last_n)
                from generate_series(enqueue.first_n, enqueue.last_n, 500) f
                returning seq)
            select min(seq) into next_seq from runs;
        end if;
        first_seq := coalesce(first_seq, next_seq);
        if next_seq > 0 then
            perform forebay.wake(root, job.lane_id, next_seq, at);
        end if;
    end loop;
    return first_seq;
end $$;

-- Opens a job, or finds the one that has this key. expected > 1000 items, or a stream, gets a lane of its own.
create or replace function forebay.open_job(
    pipeline text, owner text, key text, priority int, expected int, sealed boolean, meta jsonb, now timestamptz,
    "coalesce" boolean default false,
    out job_id bigint, out created boolean, out lane_id bigint, out owner_id bigint, out pipeline_id int,
    out max_input_bytes int, out loaded bigint, out total int, out roots int[], out is_busy boolean
) language plpgsql as $$
#variable_conflict use_column
declare
    at timestamptz := coalesce(now, clock_timestamp());
    known record;
begin
    select p.id, p.steps, p.job_steps, p.max_input_bytes, p.roots, o.id as owner_id, l.id as lane_id, l.busy_until
    into known
    from forebay.pipeline p
    left join forebay.owner o on o.name = open_job.owner
    left join forebay.lane l on l.owner_id = o.id and l.job_id = 0 and l.priority = open_job.priority
    where p.name = open_job.pipeline;
    if known.id is null then
        perform forebay.refuse('FB001', 'pipeline', format(
            'there is no pipeline %L here: start its worker, or run `forebay migrate --pipelines MODULE`', pipeline));
    end if;
    perform forebay.check_priority(priority);
    if meta is not null then
        perform forebay.check_nesting(meta, 'meta');
    end if;
    if length(key) not between 1 and 500 then
        perform forebay.refuse('FB002', 'key', 'must have 1 to 500 characters');
    elsif "coalesce" and key is null then
        perform forebay.refuse('FB002', 'key', 'is needed to coalesce');
    end if;
    pipeline_id := known.id;
    max_input_bytes := known.max_input_bytes;
    roots := known.roots;
    owner_id := coalesce(known.owner_id, forebay.owner_id(owner));
    lane_id := coalesce(known.lane_id, forebay.lane_id(owner_id, 0, priority::smallint));
    is_busy := coalesce(known.busy_until > at, false);
    created := true;
    loaded := 0;
    total := expected;
    insert into forebay.job as j
        (owner_id, pipeline_id, priority, sealed, steps, job_steps, key, coalesces, meta, lane_id, total, created_at, updated_at)
    values (open_job.owner_id, known.id, priority, sealed, known.steps, known.job_steps, key, "coalesce", meta,
            open_job.lane_id, expected, at, at)
    on conflict (pipeline_id, owner_id, key) where key is not null and not coalesces do nothing
    returning j.id into job_id;
    if job_id is null then
        created := false;
        select j.id, j.loaded, j.total, j.lane_id into strict job_id, loaded, total, lane_id from forebay.job j
        where j.pipeline_id = known.id and j.owner_id = open_job.owner_id and j.key = open_job.key and not j.coalesces;
    elsif expected > 1000 or not sealed then
        lane_id := forebay.lane_id(owner_id, job_id, priority::smallint);
        is_busy := false;
        update forebay.job j set lane_id = open_job.lane_id where j.id = open_job.job_id;
    end if;
end $$;

-- Replaces input, priority and meta of a job that has the same coalescing key and that no worker has touched. Null when
-- there is none.
-- The hot row is put back as a new one: a claim that is already looking at the old one must miss it.
create or replace function forebay.replace_pending(
    pipeline text, owner text, key text, input jsonb, priority int, run_at timestamptz, meta jsonb, now timestamptz
) returns bigint language plpgsql as $$
#variable_conflict use_column
declare
    job forebay.job;
    max_bytes int;
    taken int;
    is_paused boolean;
begin
    select j.* into job
    from forebay.pipeline p join forebay.owner o on o.name = replace_pending.owner
    join forebay.job j on j.pipeline_id = p.id and j.owner_id = o.id and j.key = replace_pending.key
    where p.name = replace_pending.pipeline and j.coalesces and j.finished_at is null
    order by j.id desc limit 1;
    if job.id is null or job.state <> 'QUEUED' then
        return null;
    end if;
    begin
        with due as (
            delete from forebay.ready where ctid = any(array(
                select r.ctid from forebay.ready r
                where r.step_id in (select s.id from forebay.step s where s.pipeline_id = job.pipeline_id)
                  and r.lane_id in (select l.id from forebay.lane l
                                    where l.owner_id = job.owner_id and l.job_id in (0, job.id))
                  and r.seq >= job.first_seq and r.job_id = job.id and r.attempt = 0
                for update skip locked)) returning 1),
        later as (
            delete from forebay.scheduled where ctid = any(array(
                select s.ctid from forebay.scheduled s
                where s.job_id = job.id and s.attempt = 0 and s.run_at < 'infinity'
                for update skip locked)) returning 1)
        select (select count(*) from due) + (select count(*) from later) into taken;
        is_paused := taken = 0 and cardinality(array(
            select s.step_id from forebay.scheduled s
            where s.job_id = job.id and s.attempt = 0 and s.run_at = 'infinity' for update))
            = (select count(*) from forebay.step s where s.pipeline_id = job.pipeline_id
               and s.needs = 0 and s.active and not s.after_all and job.steps & s.bit <> 0);
        if not is_paused and taken <> (select count(*) from forebay.step s where s.pipeline_id = job.pipeline_id
                     and s.needs = 0 and s.active and not s.after_all and job.steps & s.bit <> 0) then
            raise exception using errcode = 'FB009';  -- a worker has one of the tasks: put the others back
        end if;
    exception when sqlstate 'FB009' then
        return null;
    end;
    select p.max_input_bytes into max_bytes from forebay.pipeline p where p.id = job.pipeline_id;
    perform forebay.check_submission(octet_length(input::text), max_bytes, 'input', run_at, now);
    perform forebay.check_nesting(input, 'input'), forebay.check_nesting(meta, 'meta');
    update forebay.item i set input = replace_pending.input, updated_at = now where i.job_id = job.id and i.n = 1;
    update forebay.job j set
        priority = replace_pending.priority, meta = replace_pending.meta, updated_at = now,
        lane_id = forebay.lane_id(j.owner_id, 0, replace_pending.priority::smallint)
    where j.id = job.id;
    if not is_paused then  -- a paused item stays so
        update forebay.job j set first_seq = forebay.enqueue(job.id, 1, 1, run_at, now) where j.id = job.id;
    end if;
    return job.id;
end $$;

create or replace function forebay.check_priority(priority int) returns void language plpgsql as $$
begin
    if priority is null or priority not between -100 and 100 then
        perform forebay.refuse('FB002', 'priority', 'must be between -100 and 100');
    end if;
end $$;

-- Refuses an input or a start time that cannot be meant.
create or replace function forebay.check_submission(size bigint, max_bytes int, field text, run_at timestamptz, now timestamptz)
returns void language plpgsql as $$
begin
    if size > max_bytes then
        perform forebay.refuse('FB003', field, format('has %s bytes; the pipeline takes at most %s', size, max_bytes));
    elsif run_at is not null and (not isfinite(run_at) or run_at > now + interval '10 years') then
        perform forebay.refuse('FB002', 'run_at', 'must be within the next ten years');
    end if;
end $$;

-- Refuses JSON that is nested more than 100 deep: what lies there, few programs can read, and the API cannot show.
create or replace function forebay.check_nesting(value jsonb, field text) returns void language plpgsql as $$
begin
    if value @? '$.**{100}'
        and exists (select from jsonb_path_query(value, '$.**{100}') v where jsonb_typeof(v) in ('array', 'object'))
    then
        perform forebay.refuse('FB002', field, 'is nested more than 100 deep');
    end if;
end $$;

-- Submits many items as one job. Items whose key is already there are left out; nothing is aborted by them.
create or replace function forebay.submit_many(
    pipeline text, inputs jsonb[], owner text default 'default', key text default null, priority int default 0,
    run_at timestamptz default null, keys text[] default null, meta jsonb default null, now timestamptz default null,
    out job_id bigint, out created boolean, out items int
) language plpgsql as $$
#variable_conflict use_column
declare
    opened record;
    at timestamptz := coalesce(now, clock_timestamp());
    too_large record;
begin
    if inputs is null or array_position(inputs, null) is not null then
        perform forebay.refuse('FB002', 'inputs', 'must be JSON values; SQL nulls are not');
    elsif keys is not null and cardinality(keys) <> cardinality(inputs) then
        perform forebay.refuse('FB002', 'keys', 'must be as many as inputs');
    end if;
    opened := forebay.open_job(pipeline, owner, key, priority, cardinality(inputs), true, meta, at);
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

-- Submits one item as one job. With coalesce, it replaces the input of a job of the same key that has not begun.
create or replace function forebay.submit(
    pipeline text, input jsonb, owner text default 'default', key text default null, priority int default 0,
    run_at timestamptz default null, "coalesce" boolean default false, meta jsonb default null,
    now timestamptz default null,
    out job_id bigint, out created boolean
) language plpgsql as $$
#variable_conflict use_column
declare
    at timestamptz := coalesce(now, clock_timestamp());
    opened record;
    root int;
    seq bigint;
    size int;
begin
    if input is null then
        perform forebay.refuse('FB002', 'input', 'must be a JSON value; an SQL null is not');
    end if;
    if "coalesce" and key is not null then
        -- Two submits of one key must see each other, so they take turns.
        perform pg_advisory_xact_lock(hashtextextended(pipeline || chr(31) || owner || chr(31) || key, 4662));
        perform forebay.check_priority(priority);
        job_id := forebay.replace_pending(pipeline, owner, key, input, priority, run_at, meta, at);
        if job_id is not null then
            created := false;
            return;
        end if;
    end if;
    if key is null then  -- the usual case, without a second function: everything is known by one look
        select p.id as pipeline_id, p.max_input_bytes, p.roots, p.steps, p.job_steps, o.id as owner_id, l.id as lane_id,
               l.busy_until > at as is_busy
        into opened
        from forebay.pipeline p join forebay.owner o on o.name = submit.owner
        join forebay.lane l on l.owner_id = o.id and l.job_id = 0 and l.priority = submit.priority
        where p.name = submit.pipeline;
        insert into forebay.job as j (owner_id, pipeline_id, priority, steps, job_steps, meta, lane_id, total, created_at, updated_at)
        select opened.owner_id, opened.pipeline_id, priority, opened.steps, opened.job_steps, meta, opened.lane_id, 1, at, at
        where opened.lane_id is not null
        returning j.id into job_id;
        created := true;
    end if;
    if job_id is null then
        opened := forebay.open_job(pipeline, owner, key, priority, 1, true, meta, at, "coalesce");
        job_id := opened.job_id;
        created := opened.created;
        if not created then
            return;
        end if;
    end if;
    size := octet_length(input::text);
    if run_at is not null or size > opened.max_input_bytes then
        perform forebay.check_submission(size, opened.max_input_bytes, 'input', run_at, at);
    end if;
    if size > 200 and input @? '$.**{100}' or meta is not null then
        perform forebay.check_nesting(input, 'input'), forebay.check_nesting(meta, 'meta');
    end if;
    insert into forebay.item (job_id, n, owner_id, pipeline_id, input, created_at, updated_at)
    values (submit.job_id, 1, opened.owner_id, opened.pipeline_id, input, at, at);
    if run_at > at or "coalesce" then
        seq := forebay.enqueue(job_id, 1, 1, run_at, at);
        update forebay.job j set first_seq = seq where j.id = submit.job_id and "coalesce";
        return;
    end if;
    foreach root in array opened.roots loop  -- as enqueue does, without asking again what is known already
        insert into forebay.ready (step_id, lane_id, job_id, owner_id, first_n, last_n)
        values (root, opened.lane_id, submit.job_id, opened.owner_id, 1, 1) returning ready.seq into seq;
        if not opened.is_busy then
            perform pg_notify('forebay', 'ready ' || root || ' ' || opened.lane_id || ' ' || seq);
        end if;
    end loop;
end $$;
