-- Opens a job, or finds the one that holds this key (see holds_key). expected > 1000 items, or a stream, gets a lane of its own.
-- first_seq: all runs of the job come after it; so they can be found without reading what was queued before the job.
create or replace function forebay.open_job(
    pipeline text, owner text, key text, priority int, expected int, sealed boolean, meta jsonb, now timestamptz,
    "coalesce" boolean default false, unique_states forebay.job_state[] default null, unique_period interval default null,
    out job_id bigint, out created boolean, out lane_id bigint, out owner_id bigint, out pipeline_id int,
    out max_input_bytes int, out loaded bigint, out total int, out roots int[], out busy_steps int[]
) language plpgsql as $$
#variable_conflict use_column
declare
    at timestamptz := coalesce(now, clock_timestamp());
    known record;
    holder forebay.job;
begin
    select p.id, p.version_id, p.steps, p.job_steps, p.max_input_bytes, p.roots, o.id as owner_id, l.id as lane_id,
           array(select b.step_id from forebay.busy_lane b where b.lane_id = l.id and b.until > at) as busy_steps
    into known
    from forebay.pipeline p
    left join forebay.owner o on o.name = open_job.owner
    left join forebay.lane l on l.owner_id = o.id and l.job_id = 0 and l.priority = open_job.priority and l.limit_name = ''
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
    elsif key is null and (unique_states is not null or unique_period is not null) then
        perform forebay.refuse('FB002', 'key', 'is required for unique');
    elsif unique_states = '{}' then
        perform forebay.refuse('FB002', 'unique_states', 'must name at least one state');
    end if;
    pipeline_id := known.id;
    max_input_bytes := known.max_input_bytes;
    roots := known.roots;
    owner_id := coalesce(known.owner_id, forebay.owner_id(owner));
    lane_id := coalesce(known.lane_id, forebay.lane_id(owner_id, 0, priority::smallint));
    busy_steps := known.busy_steps;
    created := true;
    loaded := 0;
    total := expected;
    loop
        if key is not null and not "coalesce" then
            select j.* into holder from forebay.job j
            where j.pipeline_id = known.id and j.owner_id = open_job.owner_id and j.key = open_job.key and not j.coalesces
            order by j.key_turn desc limit 1;
            if holder.id is not null and forebay.holds_key(holder, unique_states, unique_period, at) then
                job_id := holder.id;
                created := false;
                lane_id := holder.lane_id;
                loaded := holder.loaded;
                total := holder.total;
                return;
            end if;
        end if;
        insert into forebay.job as j
            (owner_id, pipeline_id, version_id, priority, sealed, steps, job_steps, key, key_turn, coalesces, meta, lane_id, total, first_seq, created_at, updated_at)
        values (open_job.owner_id, known.id, known.version_id, priority, sealed, known.steps, known.job_steps, key,
                coalesce(holder.key_turn + 1, 0), "coalesce", meta, open_job.lane_id, expected, nextval('forebay.seq'), at, at)
        on conflict (pipeline_id, owner_id, key, key_turn) where key is not null and not coalesces do nothing
        returning j.id into job_id;
        exit when job_id is not null;  -- else another submit has opened a job with this key meanwhile
    end loop;
    if expected > 1000 or not sealed then
        lane_id := forebay.lane_id(owner_id, job_id, priority::smallint);
        busy_steps := '{}';
        update forebay.job j set lane_id = open_job.lane_id where j.id = open_job.job_id;
    end if;
end $$;
