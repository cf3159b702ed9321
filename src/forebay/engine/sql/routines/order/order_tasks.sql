-- Puts tasks that take_unordered() has returned in order: the first of each key becomes current and ready, the others wait until it
-- has ended. A task that has its place already, because it runs again, keeps its key and its place. Tasks without a key are ready.
-- ended[i]: the task has ended. Returns the lanes with ready tasks, each with the first place to look at.
-- The commit does not wait for the disk: if a crash of the server undoes it, the tasks are where they were.
create or replace function forebay.order_tasks(
    steps int[], lanes bigint[], job_ids bigint[], ns int[], attempts smallint[], owner_ids bigint[], keys text[], ended boolean[],
    now timestamptz default null
) returns table (step_id int, lane_id bigint, seq bigint)
language plpgsql set enable_seqscan = off set jit = off set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
    at timestamptz := coalesce(now, clock_timestamp());
    commits text := set_config('synchronous_commit', 'off', true);
    homes bigint[];
    sorted_lanes bigint[];
    line forebay.ordered_task[];
begin
    -- Lanes are locked before keys, as cancel() does.
    select array_agg(h.id), array_agg(forebay.key_lane_id(h.id, 'forebay:ordered', '')) into homes, sorted_lanes
    from (select distinct l.id from unnest(lanes) l(id) order by 1) h;
    insert into forebay.ordered_task (pipeline_id, bit, owner_id, key, job_id, n)
    select s.pipeline_id, s.bit, t.owner_id, t.key, t.job_id, t.n
    from unnest(steps, job_ids, ns, owner_ids, keys, ended) t(step_id, job_id, n, owner_id, key, ended)
    join forebay.step s on s.id = t.step_id
    where t.key is not null and not t.ended
    order by 1, 2, 3, 4, 5, 6
    on conflict do nothing;
    line := array(
        select o.task from unnest(steps, job_ids, ns, ended) t(step_id, job_id, n, ended)
        join forebay.step s on s.id = t.step_id
        -- One look-up for each task, here and below: a plan from when the table was empty would read all of it.
        cross join lateral (
            select o as task from forebay.ordered_task o where o.job_id = t.job_id and o.n = t.n and o.bit = s.bit offset 0) o
        where not t.ended);
    -- A task that ends at this moment is waited for: either it has seen the tasks above, or its key is vacant afterwards.
    perform from (select distinct c.pipeline_id, c.bit, c.owner_id, c.key from unnest(line) c order by 1, 2, 3, 4) c
    cross join lateral (
        select from forebay.ordered_task o
        where o.pipeline_id = c.pipeline_id and o.bit = c.bit and o.owner_id = c.owner_id and o.key = c.key and o.is_current
        for update) o;
    return query
    with advanced as materialized (
        select a.* from forebay.advance_keys(
            array(select distinct row(c.pipeline_id, c.bit, c.owner_id, c.key, 0, 0, false)::forebay.ordered_task from unnest(line) c), at) a
    )
    select a.step_id, a.lane_id, a.seq from advanced a;
    return query
    with task as materialized (
        select t.*, s.bit, l.lane_id as sorted_id
        from unnest(steps, lanes, job_ids, ns, attempts, owner_ids, ended) with ordinality
            t(step_id, lane_id, job_id, n, attempt, owner_id, ended, place)
        join forebay.step s on s.id = t.step_id
        join unnest(homes, sorted_lanes) l(id, lane_id) on l.id = t.lane_id
        where not t.ended
    ),
    placed as materialized (
        select t.*, o.job_id is null or o.is_current as may_run
        from task t left join lateral (
            select o.job_id, o.is_current from forebay.ordered_task o
            where o.job_id = t.job_id and o.n = t.n and o.bit = t.bit offset 0) o on true
    ),
    waiting as (
        insert into forebay.scheduled (run_at, step_id, lane_id, job_id, owner_id, first_n, last_n, attempt)
        select forebay.waits_in_order(), p.step_id, p.sorted_id, p.job_id, p.owner_id, p.n, p.n, p.attempt
        from placed p where not p.may_run order by p.place
    ),
    run as (
        select p.step_id, p.sorted_id, p.job_id, p.owner_id, p.attempt, min(p.place) as place,
               range_agg(int4range(p.n, p.n, '[]')) as ns
        from placed p where p.may_run group by p.step_id, p.sorted_id, p.job_id, p.owner_id, p.attempt
    ),
    queued as (
        insert into forebay.ready as x (step_id, lane_id, job_id, owner_id, first_n, last_n, attempt)
        select r.step_id, r.sorted_id, r.job_id, r.owner_id, lower(g), upper(g) - 1, r.attempt
        from run r cross join lateral unnest(r.ns) g order by r.place, g
        returning x.step_id, x.lane_id, x.seq
    ),
    woken as (
        select q.step_id, q.lane_id, min(q.seq) as seq from queued q group by q.step_id, q.lane_id
    )
    select w.step_id, w.lane_id, w.seq from woken w
    cross join lateral (select forebay.wake(w.step_id, w.lane_id, w.seq, at)) told;
    if true = any(ended) then
        return query
        select e.step_id, e.lane_id, e.seq from forebay.end_ordered(
            array(select o from unnest(steps, job_ids, ns, ended) t(step_id, job_id, n, ended)
                  join forebay.step s on s.id = t.step_id
                  join forebay.ordered_task o on o.job_id = t.job_id and o.n = t.n and o.bit = s.bit
                  where t.ended), at) e;
    end if;
end $$;
