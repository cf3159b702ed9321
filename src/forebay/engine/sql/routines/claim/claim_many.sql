-- Claims from many lanes, or from many short runs of one: the same as claim_few, but all in one statement. The runs are locked
-- first and read again by the next statement, so that a run that another claim has split in the meantime is seen as it is now.
-- From then on they are found by their places, which cannot change while they are locked: a join might read the whole lane,
-- including dead rows below the watermark that a long transaction keeps. Lanes with runs of paused or cancelled jobs among
-- these, and those of parked queues, are left to claim_few. Jobs are read once, after the lock: they are looked at again only
-- if some of the runs were not claimed.
create or replace function forebay.claim_many(
    worker_id bigint, steps int[], lanes bigint[], heads bigint[], quotas int[], max_rows int[], reading int[],
    lease_s float8, at timestamptz
) returns table (
    token bigint, step_id int, lane_id bigint, job_id bigint, owner_id bigint, attempt smallint, seq bigint, rest int,
    first_n int, last_n int, ns int[], inputs text[], results text[], version_id int
) language plpgsql as $$
#variable_conflict use_column
declare
    apart int[];
    place int;
    runs tid[];
    of_keys bigint[];  -- lanes in which tasks wait for a key of a limit: their leases belong to the lanes of their jobs
    claimed bigint;
begin
    with asked as materialized (
        select a.*, q.parked is not null as is_parked, l.limit_name <> '' as is_of_key
        from unnest(steps, lanes, heads, max_rows) with ordinality as a(step_id, lane_id, head, max_rows, place)
        join forebay.step s on s.id = a.step_id
        join forebay.queue q on q.name = s.queue and not q.paused and (q.parked is null or q.probe_at <= at)
        join forebay.lane l on l.id = a.lane_id and not l.paused and (not s.ordered or l.limit_name <> '')
    )
    select array(select a.place from asked a where a.is_parked order by a.place),
           array(select k.run from asked a cross join lateral (
                     select r.ctid as run from forebay.ready r
                     where r.step_id = a.step_id and r.lane_id = a.lane_id and r.seq > a.head
                     order by r.step_id, r.lane_id, r.seq limit a.max_rows for update of r skip locked) k
                 where not a.is_parked),
           array(select a.lane_id from asked a where a.is_of_key)
    into apart, runs, of_keys;
    if cardinality(runs) > 0 then
        return query
        with seen as materialized (
            select r.ctid as run, r.*, coalesce(j.version_id, -j.pipeline_id) as version_id, j.state,
                   case when r.lane_id = any(of_keys) then j.lane_id else r.lane_id end as home
            from forebay.ready r left join forebay.job j on j.id = r.job_id where r.ctid = any(runs)
        ),
        summed as (  -- in the order of the lane, in which the tasks are returned
            select s.*, a.quota, s.last_n - s.first_n + 1 as size,
                   sum(s.last_n - s.first_n + 1) over (partition by s.step_id, s.lane_id order by s.seq) as upto
            from seen s
            join unnest(steps, lanes, quotas) as a(step_id, lane_id, quota) on a.step_id = s.step_id and a.lane_id = s.lane_id
            where ((s.step_id, s.lane_id) in (
                select p.step_id, p.lane_id from seen p where p.state is null or p.state in ('PAUSED', 'CANCELLED'))) is not true
        ),
        taken as materialized (
            select forebay.next_token() as token, s.*, s.step_id = any(reading) as is_reading,
                   least(s.last_n, s.first_n + (s.quota - (s.upto - s.size)) - 1)::int as end_n
            from summed s where s.upto - s.size < s.quota
        ),
        used_up as (
            delete from forebay.ready r where r.ctid = any(array(select t.run from taken t where t.end_n = t.last_n))
        ),
        cut as (  -- only the last run of a lane
            update forebay.ready r set first_n = t.end_n + 1 from taken t where t.end_n < t.last_n and r.ctid = t.run
        ),
        leased as (
            insert into forebay.lease (token, step_id, lane_id, job_id, owner_id, worker_id, attempt, claimed_at, expires_at, ns)
            select t.token, t.step_id, t.home, t.job_id, t.owner_id, claim_many.worker_id, t.attempt + 1, at,
                   at + make_interval(secs => lease_s), int4multirange(int4range(t.first_n, t.end_n, '[]'))
            from taken t
        )
        select t.token, t.step_id, t.lane_id, t.job_id, t.owner_id, (t.attempt + 1)::smallint, t.seq, t.last_n - t.end_n, t.first_n,
               t.end_n, i.ns, i.inputs, i.results, t.version_id
        from taken t
        cross join lateral (
            select array_agg(i.n) as ns, array_agg(case when not b.large then i.input::text end) as inputs,
                   array_agg(case when not b.large then forebay.returned(i.result, i.normalized)::text end)
                       filter (where t.is_reading) as results
            from forebay.item i cross join lateral (select forebay.is_large(i.input, i.result, i.normalized, t.is_reading) as large) b
            where i.job_id = t.job_id and i.n between t.first_n and t.end_n and i.status = 'PENDING') i;
        get diagnostics claimed = row_count;
    end if;
    if claimed < cardinality(runs) then
        apart := apart || array(
            select distinct a.place::int from unnest(steps, lanes) with ordinality as a(step_id, lane_id, place)
            join forebay.ready r on r.step_id = a.step_id and r.lane_id = a.lane_id
            left join forebay.job j on j.id = r.job_id
            where r.ctid = any(runs) and (j.state is null or j.state in ('PAUSED', 'CANCELLED')));
    end if;
    foreach place in array apart loop
        return query select * from forebay.claim_few(
            worker_id, steps[place], lanes[place], heads[place], quotas[place], max_rows[place], steps[place] = any(reading),
            lease_s, at);
    end loop;
end $$;
