-- Returns tasks that a limit does not admit from their leases to the queue, without an attempt: to the lane of the key that
-- is full, or to their own lane if limit_names[i] is empty. seqs[i] is the place that the task's run had: it gets the same
-- place in the lane of the key, so that a run stays one row, and tasks stay in order, however often this happens.
-- Returns the lanes, each with the first place to look at.
create or replace function forebay.wait_for_limits(
    worker_id bigint, tokens bigint[], ns int[], seqs bigint[], limit_names text[], limit_keys text[],
    now timestamptz default null
) returns table (step_id int, lane_id bigint, seq bigint, limit_name text, limit_key text)
language plpgsql set enable_seqscan = off set jit = off set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
    at timestamptz := coalesce(now, clock_timestamp());
    mine bigint[];
begin
    mine := array(select l.token from forebay.lease l where l.token = any(tokens) and l.worker_id = wait_for_limits.worker_id
                  order by l.token for update);
    return query
    with report as materialized (
        select r.token, r.seq, r.limit_name, r.limit_key, range_agg(int4range(r.n, r.n, '[]')) as ns
        from unnest(tokens, ns, seqs, limit_names, limit_keys) as r(token, n, seq, limit_name, limit_key)
        group by r.token, r.seq, r.limit_name, r.limit_key
    ),
    task as materialized (
        select l.step_id, l.lane_id as home_id, l.job_id, l.owner_id, l.attempt, r.seq, r.limit_name, r.limit_key,
               r.ns * l.ns as ns
        from report r join forebay.lease l on l.token = r.token
        where r.token = any(mine) and not isempty(r.ns * l.ns)
    ),
    taken as materialized (
        select r.token, range_agg(r.ns) as ns from report r where r.token = any(mine) group by r.token
    ),
    ended as (
        delete from forebay.lease l using taken t where l.token = t.token and isempty(l.ns - t.ns)
    ),
    cut as (
        update forebay.lease l set ns = l.ns - t.ns from taken t where l.token = t.token and not isempty(l.ns - t.ns)
    ),
    lane as materialized (
        select k.*, case when k.limit_name = '' then k.home_id
                         else forebay.key_lane_id(k.home_id, k.limit_name, k.limit_key) end as lane_id
        from (select distinct t.home_id, t.limit_name, t.limit_key from task t order by 1, 2, 3) k
    ),
    run as materialized (
        select g.step_id, g.lane_id, g.job_id, g.owner_id, g.attempt, g.seq, lower(r) as first_n, upper(r) - 1 as last_n,
               row_number() over (partition by g.step_id, g.lane_id, g.seq order by r) as place
        from (select t.step_id, l.lane_id, t.job_id, t.owner_id, t.attempt, t.seq, range_agg(t.ns) as ns
              from task t join lane l using (home_id, limit_name, limit_key)
              group by t.step_id, l.lane_id, t.job_id, t.owner_id, t.attempt, t.seq) g
        cross join lateral unnest(g.ns) r
    ),
    -- Another part of the run may be there already: it is extended if that is next to this one.
    in_place as (
        insert into forebay.ready as x (step_id, lane_id, seq, job_id, owner_id, first_n, last_n, attempt)
        select r.step_id, r.lane_id, r.seq, r.job_id, r.owner_id, r.first_n, r.last_n, r.attempt - 1
        from run r where r.place = 1 order by r.step_id, r.lane_id, r.seq
        on conflict (step_id, lane_id, seq) do update
        set first_n = least(x.first_n, excluded.first_n), last_n = greatest(x.last_n, excluded.last_n)
        where x.job_id = excluded.job_id and x.attempt = excluded.attempt
          and (x.first_n = excluded.last_n + 1 or x.last_n + 1 = excluded.first_n)
        returning x.step_id, x.lane_id, x.seq
    ),
    behind as (
        insert into forebay.ready as x (step_id, lane_id, job_id, owner_id, first_n, last_n, attempt)
        select r.step_id, r.lane_id, r.job_id, r.owner_id, r.first_n, r.last_n, r.attempt - 1
        from run r
        where r.place > 1 or (r.step_id, r.lane_id, r.seq) not in (select p.step_id, p.lane_id, p.seq from in_place p)
        order by r.seq, r.first_n
        returning x.step_id, x.lane_id, x.seq
    ),
    woken as (
        select p.step_id, p.lane_id, min(p.seq) as seq
        from (select * from in_place union all select * from behind) p group by p.step_id, p.lane_id
    )
    select w.step_id, w.lane_id, w.seq, l.limit_name, l.limit_key
    from woken w join (select distinct l.lane_id, l.limit_name, l.limit_key from lane l) l on l.lane_id = w.lane_id
    cross join lateral (select forebay.wake(w.step_id, w.lane_id, w.seq, at)) told;
end $$;
