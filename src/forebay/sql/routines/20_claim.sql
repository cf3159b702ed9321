-- Claims up to quotas[i] tasks of each (steps[i], lanes[i]) for a worker: one row a lease, its inputs side by side.
-- The cost does not depend on the backlog: a lane is entered at its watermark heads[i] and read in order, max_rows[i] runs
-- at most. Runs of a paused job move to that job's own lane on the way; those of a cancelled job are dropped.
-- `results` (what earlier steps returned) is filled for the steps in `reading`; `rest` is what a cut run still holds.
-- Large inputs stay where they are (null) until their task begins, so that no claim brings more than memory can hold.
create or replace function forebay.claim(
    worker_id bigint, steps int[], lanes bigint[], heads bigint[], quotas int[], max_rows int[], reading int[],
    lease_s float8, now timestamptz default null
) returns table (
    token bigint, step_id int, lane_id bigint, job_id bigint, owner_id bigint, attempt smallint, seq bigint, rest int,
    first_n int, last_n int, ns int[], inputs text[], results text[]
) language plpgsql set enable_seqscan = off set jit = off set plan_cache_mode = force_generic_plan as $$
declare at timestamptz := coalesce(now, clock_timestamp());
begin
    for i in 1 .. cardinality(steps) loop
        if max_rows[i] <= 8 then
            return query select * from forebay.claim_few(
                worker_id, steps[i], lanes[i], heads[i], quotas[i], max_rows[i], steps[i] = any(reading), lease_s, at);
        else
            return query select * from forebay.claim_many(
                worker_id, steps[i], lanes[i], heads[i], quotas[i], max_rows[i], steps[i] = any(reading), lease_s, at);
        end if;
    end loop;
end $$;

-- A fencing token. The milliseconds in front of the number keep tokens apart, and in order, where a sequence alone would
-- give some out twice: after a failover to a replica that had not heard of the last ones.
create or replace function forebay.next_token() returns bigint language sql as $$
select ((date_part('epoch', clock_timestamp()) * 1000)::bigint << 20) | (nextval('forebay.token') & 1048575)
$$;

-- Whether what a task brings along is too large to be handed out before the task begins. Costs no look at the value itself.
create or replace function forebay.is_large(input jsonb, result jsonb, normalized jsonb, is_reading boolean) returns boolean
language sql stable as $$
select pg_column_size(input) > 8192
    or is_reading and coalesce(pg_column_size(result), 0) + coalesce(pg_column_size(normalized), 0) > 8192
$$;

-- What the steps of an item have returned; what is kept in `normalized` stands under '*', which is no step's name.
create or replace function forebay.returned(result jsonb, normalized jsonb) returns jsonb language sql immutable as $$
select case when normalized is null then result else coalesce(result, '{}') || jsonb_build_object('*', normalized) end
$$;

-- Whether this claim may try one task of a parked queue: the first that asks, then nobody for half a minute.
create or replace function forebay.take_probe(queue text, at timestamptz) returns boolean language plpgsql as $$
begin
    update forebay.queue q set probe_at = at + interval '30 seconds' where q.name = queue and q.probe_at <= at;
    return found;
end $$;

-- Claims from many short runs of one step of one lane. The runs are locked first and read again by the next statement:
-- a run that another claim has cut meanwhile is then seen as it is now, not as it was when this claim began.
-- All statements after the first find their runs by `seq = any(…)`, which is a look-up for each of them under any plan. A
-- join may read the whole lane, and what dead rows a long transaction keeps below the watermark.
create or replace function forebay.claim_many(
    worker_id bigint, step int, lane bigint, head bigint, quota int, max_rows int, is_reading boolean, lease_s float8,
    at timestamptz
) returns table (
    token bigint, step_id int, lane_id bigint, job_id bigint, owner_id bigint, attempt smallint, seq bigint, rest int,
    first_n int, last_n int, ns int[], inputs text[], results text[]
) language plpgsql as $$
#variable_conflict use_column
declare
    parked_queue text;
    room int := quota;
    locked bigint[];
begin
    select case when q.parked is not null then q.name end into parked_queue
    from forebay.step s
    join forebay.queue q on q.name = s.queue and not q.paused and (q.parked is null or q.probe_at <= at)
    join forebay.lane l on l.id = lane and not l.paused
    where s.id = step;
    if not found then
        return;
    elsif parked_queue is not null then
        room := 1;
    end if;
    locked := array(
        select r.seq from forebay.ready r where r.step_id = step and r.lane_id = lane and r.seq > head
        order by r.step_id, r.lane_id, r.seq limit max_rows for update skip locked);
    if cardinality(locked) = 0 or parked_queue is not null and not forebay.take_probe(parked_queue, at) then
        return;
    end if;
    return query
    with seen as materialized (
        select r.*, coalesce(j.state, 'CANCELLED') as state
        from forebay.ready r left join forebay.job j on j.id = r.job_id
        where r.step_id = step and r.lane_id = lane and r.seq = any(locked)
    ),
    set_aside as (
        update forebay.ready r set lane_id = l.id
        from forebay.lane l
        where r.step_id = step and r.lane_id = lane and r.seq = any(array(select s.seq from seen s where s.state = 'PAUSED'))
          and l.job_id = r.job_id and l.job_id <> 0
    ),
    summed as (
        select s.*, s.last_n - s.first_n + 1 as size, sum(s.last_n - s.first_n + 1) over (order by s.seq) as upto
        from seen s where s.state not in ('PAUSED', 'CANCELLED')
    ),
    taken as materialized (
        select forebay.next_token() as token, s.*,
               least(s.last_n, s.first_n + (room - (s.upto - s.size)) - 1)::int as end_n
        from summed s where s.upto - s.size < room
    ),
    used_up as (
        delete from forebay.ready r
        where r.step_id = step and r.lane_id = lane and r.seq = any(array(
            select t.seq from taken t where t.end_n = t.last_n
            union all
            select s.seq from seen s where s.state = 'CANCELLED'))
    ),
    cut as (
        update forebay.ready r set first_n = (select t.end_n + 1 from taken t where t.end_n < t.last_n)  -- the last one only
        where r.step_id = step and r.lane_id = lane and r.seq = any(array(
            select t.seq from taken t where t.end_n < t.last_n))
    ),
    leased as (
        insert into forebay.lease (token, step_id, lane_id, job_id, owner_id, worker_id, attempt, claimed_at, expires_at, ns)
        select t.token, step, lane, t.job_id, t.owner_id, claim_many.worker_id, t.attempt + 1, at,
               at + make_interval(secs => lease_s), int4multirange(int4range(t.first_n, t.end_n, '[]'))
        from taken t
    )
    select t.token, step, lane, t.job_id, t.owner_id, (t.attempt + 1)::smallint, t.seq, t.last_n - t.end_n, t.first_n,
           t.end_n, i.ns, i.inputs, i.results
    from taken t
    cross join lateral (
        select array_agg(i.n) as ns, array_agg(case when not b.large then i.input::text end) as inputs,
               case when is_reading then array_agg(case when not b.large then forebay.returned(i.result, i.normalized)::text end) end as results
        from forebay.item i cross join lateral (select forebay.is_large(i.input, i.result, i.normalized, is_reading) as large) b
        where i.job_id = t.job_id and i.n between t.first_n and t.end_n and i.status = 'PENDING') i;
end $$;

-- The same for a few runs of one step of one lane.
create or replace function forebay.claim_few(
    worker_id bigint, step int, lane bigint, head bigint, quota int, max_rows int, is_reading boolean, lease_s float8,
    at timestamptz
) returns table (
    token bigint, step_id int, lane_id bigint, job_id bigint, owner_id bigint, attempt smallint, seq bigint, rest int,
    first_n int, last_n int, ns int[], inputs text[], results text[]
) language plpgsql as $$
#variable_conflict use_column
declare
    run record;
    room int := quota;
    probing boolean := false;
    aside int;
begin
    step_id := step;
    lane_id := lane;
    for round in 1 .. 1000 loop  -- what is set aside or dropped on the way must not sit in front of what can run
    aside := 0;
    for run in
        select r.ctid as place, r.*, coalesce(j.state, 'CANCELLED') as state, case when q.parked is not null then q.name end as parked
        from forebay.ready r
        join forebay.step s on s.id = step
        join forebay.queue q on q.name = s.queue and not q.paused and (q.parked is null or q.probe_at <= at)
        join forebay.lane l on l.id = lane and not l.paused
        left join forebay.job j on j.id = r.job_id
        where r.step_id = step and r.lane_id = lane and r.seq > head
        order by r.step_id, r.lane_id, r.seq limit max_rows for update of r skip locked
    loop
        if run.state = 'CANCELLED' then
            delete from forebay.ready r where r.ctid = run.place;
            aside := aside + 1;
            continue;
        elsif run.state = 'PAUSED' then
            update forebay.ready r set lane_id = l.id from forebay.lane l where r.ctid = run.place and l.job_id = run.job_id;
            aside := aside + 1;
            continue;
        elsif run.parked is not null and room > 0 and not probing then
            probing := forebay.take_probe(run.parked, at);
            room := probing::int;
        end if;
        exit when room = 0;
        last_n := least(run.last_n, run.first_n + room - 1);
        if last_n = run.last_n then
            delete from forebay.ready r where r.ctid = run.place;
        else
            update forebay.ready r set first_n = claim_few.last_n + 1 where r.ctid = run.place;
        end if;
        token := forebay.next_token();
        insert into forebay.lease (token, step_id, lane_id, job_id, owner_id, worker_id, attempt, claimed_at, expires_at, ns)
        values (claim_few.token, step, lane, run.job_id, run.owner_id, claim_few.worker_id, run.attempt + 1, at,
                at + make_interval(secs => lease_s), int4multirange(int4range(run.first_n, claim_few.last_n, '[]')));
        select array_agg(i.n), array_agg(case when not b.large then i.input::text end),
               case when is_reading then array_agg(case when not b.large then forebay.returned(i.result, i.normalized)::text end) end
        into ns, inputs, results
        from forebay.item i cross join lateral (select forebay.is_large(i.input, i.result, i.normalized, is_reading) as large) b
        where i.job_id = run.job_id and i.n between run.first_n and claim_few.last_n and i.status = 'PENDING';
        job_id := run.job_id;
        owner_id := run.owner_id;
        attempt := run.attempt + 1;
        seq := run.seq;
        first_n := run.first_n;
        rest := run.last_n - last_n;
        room := room - (last_n - first_n + 1);
        return next;
    end loop;
    exit when aside = 0 or room = 0;
    end loop;
end $$;

-- The (step, lane) pairs that have something ready: one index probe a pair, however long their backlogs are.
create or replace function forebay.discover(steps int[]) returns table (
    step_id int, lane_id bigint, owner_id bigint, job_id bigint, priority smallint, weight real
) language plpgsql stable set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
begin
return query
with recursive pair(step_id, lane_id) as (
    select s.step_id, (select r.lane_id from forebay.ready r where r.step_id = s.step_id order by r.lane_id limit 1)
    from unnest(steps) as s(step_id)
    union all
    select p.step_id, (select r.lane_id from forebay.ready r
                       where r.step_id = p.step_id and r.lane_id > p.lane_id order by r.lane_id limit 1)
    from pair p where p.lane_id is not null
)
select p.step_id, p.lane_id, l.owner_id, l.job_id, l.priority, o.weight
from pair p
join forebay.lane l on l.id = p.lane_id and not l.paused
join forebay.owner o on o.id = l.owner_id;
end $$;

-- What a worker needs to know about a lane to share it fairly.
create or replace function forebay.describe_lanes(lanes bigint[]) returns table (
    lane_id bigint, owner_id bigint, priority smallint, weight real, paused boolean
) language sql stable as $$
select l.id, l.owner_id, l.priority, o.weight, l.paused
from forebay.lane l join forebay.owner o on o.id = l.owner_id where l.id = any(lanes)
$$;

-- Says that workers are in the middle of these lanes' backlogs until `until`, so that submits need not wake anybody.
create or replace function forebay.mark_busy(lanes bigint[], until timestamptz) returns void language sql as $$
with locked as (select l.id from forebay.lane l where l.id = any(lanes) order by l.id for no key update)
update forebay.lane l set busy_until = until, used_at = clock_timestamp() from locked k where l.id = k.id
$$;
