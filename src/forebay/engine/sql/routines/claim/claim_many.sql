-- Claims from many short runs of one step of one lane. The runs are locked first and read again by the next statement, so
-- that a run that another claim has split in the meantime is seen as it is now, not as it was when this claim started.
-- All statements after the first find their runs with `seq = any(…)`, which is an index look-up under any plan. A join
-- might read the whole lane, including dead rows below the watermark that a long transaction keeps.
create or replace function forebay.claim_many(
    worker_id bigint, step int, lane bigint, head bigint, quota int, max_rows int, is_reading boolean, lease_s float8,
    at timestamptz
) returns table (
    token bigint, step_id int, lane_id bigint, job_id bigint, owner_id bigint, attempt smallint, seq bigint, rest int,
    first_n int, last_n int, ns int[], inputs text[], results text[], version_id int
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
    if cardinality(locked) = 0 or parked_queue is not null and not forebay.try_parked_queue(parked_queue, at) then
        return;
    end if;
    return query
    with seen as materialized (
        select r.*, coalesce(j.state, 'CANCELLED') as state, coalesce(j.version_id, -j.pipeline_id) as version_id
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
        update forebay.ready r set first_n = (select t.end_n + 1 from taken t where t.end_n < t.last_n)  -- only the last run
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
           t.end_n, i.ns, i.inputs, i.results, t.version_id
    from taken t
    cross join lateral (
        select array_agg(i.n) as ns, array_agg(case when not b.large then i.input::text end) as inputs,
               array_agg(case when not b.large then forebay.returned(i.result, i.normalized)::text end) filter (where is_reading) as results
        from forebay.item i cross join lateral (select forebay.is_large(i.input, i.result, i.normalized, is_reading) as large) b
        where i.job_id = t.job_id and i.n between t.first_n and t.end_n and i.status = 'PENDING') i;
end $$;
