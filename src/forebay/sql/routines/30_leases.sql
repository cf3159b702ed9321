-- What happens to a lease besides being settled: renewed, handed back, run out. And how scheduled runs become ready.
-- Locks are taken in the order of settle(): leases by token, then items, then jobs.

-- Renews the leases that this worker still holds, and says that it is alive. A token that does not come back is lost;
-- a cancelled one should be given up soon. A renewal never shortens a lease.
create or replace function forebay.heartbeat(
    worker_id bigint, tokens bigint[], lease_s float8[], now timestamptz default null
) returns table (token bigint, cancelled boolean)
language plpgsql set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare at timestamptz := coalesce(now, clock_timestamp());
begin
    update forebay.worker w set seen_at = greatest(w.seen_at, at), stopped_at = null where w.id = heartbeat.worker_id;
    return query
    with held as materialized (
        select l.token, g.seconds from unnest(tokens, lease_s) g(token, seconds)
        join forebay.lease l on l.token = g.token
        where l.worker_id = heartbeat.worker_id
        order by l.token for update of l)
    update forebay.lease l set expires_at = greatest(l.expires_at, at + make_interval(secs => h.seconds))
    from held h where l.token = h.token
    returning l.token, l.cancelled;
end $$;

-- Ends the open tasks of these leases as cancelled: their job is. Tells how many; the leases may stay, without them.
create or replace function forebay.settle_cancelled(tokens bigint[], now timestamptz) returns int
language plpgsql set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
    given_up record;
    ended int := 0;
begin
    for given_up in  -- one lease a call: an item may be in two of them
        select l.token, l.worker_id, l.claimed_at, array_agg(i.n) as ns, count(*) as size
        from forebay.lease l cross join lateral unnest(l.ns) r
        join forebay.item i on i.job_id = l.job_id and i.n >= lower(r) and i.n < upper(r) and i.status = 'PENDING'
        where l.token = any(tokens)
          and (l.cancelled or exists (select from forebay.job j where j.id = l.job_id and j.state = 'CANCELLED'))
        group by l.token order by l.job_id, l.token
    loop
        perform forebay.settle(
            given_up.worker_id, array_fill(given_up.token, array[given_up.size::int]), given_up.ns,
            array_fill('CANCELLED'::forebay.outcome, array[given_up.size::int]), '{}',
            array_fill(extract(epoch from given_up.claimed_at)::float8, array[given_up.size::int]), '{}', '{}',
            array_fill(true, array[given_up.size::int]), array_fill('cancelled'::text, array[given_up.size::int]),
            array_fill('the job was cancelled'::text, array[given_up.size::int]), now);
        ended := ended + given_up.size;
    end loop;
    return ended;
end $$;

-- Hands leases back: what is left of them can be claimed again, as if this claim had not been. Tells how many tasks.
create or replace function forebay.release(worker_id bigint, tokens bigint[], now timestamptz default null) returns int
language plpgsql set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
    at timestamptz := coalesce(now, clock_timestamp());
    mine bigint[];
    released int;
begin
    mine := array(select l.token from forebay.lease l where l.token = any(tokens) and l.worker_id = release.worker_id
                  order by l.token for update);
    released := forebay.settle_cancelled(mine, at);
    with gone as (
        delete from forebay.lease l where l.token = any(mine) returning l.*
    ),
    open as (  -- an item that has ended meanwhile needs nothing more
        select g.token, g.step_id, g.lane_id, g.job_id, g.owner_id, g.attempt, range_agg(int4range(i.n, i.n, '[]')) as ns,
               count(*) as size
        from gone g cross join lateral unnest(g.ns) r
        join forebay.item i on i.job_id = g.job_id and i.n >= lower(r) and i.n < upper(r) and i.status = 'PENDING'
        group by g.token, g.step_id, g.lane_id, g.job_id, g.owner_id, g.attempt
    ),
    queued as (
        insert into forebay.ready (step_id, lane_id, job_id, owner_id, first_n, last_n, attempt)
        select o.step_id, o.lane_id, o.job_id, o.owner_id, lower(r), upper(r) - 1, o.attempt - 1
        from open o cross join lateral unnest(o.ns) r order by o.token, r
        returning step_id, lane_id, seq
    ),
    woken as (
        select count(forebay.wake(q.step_id, q.lane_id, q.seq, at))
        from (select step_id, lane_id, min(seq) as seq from queued group by step_id, lane_id) q
    )
    select released + coalesce(sum(o.size), 0) into released from open o, woken;
    return released;
end $$;

-- Takes back the leases that have run out. Their tasks can be claimed again at once, one a run (a task that kills its worker
-- must not take others along) and without having spent an attempt; but a task that was lost max_expiries times before,
-- since it last ended, is in error. Leases of a cancelled job end their items.
create or replace function forebay.expire(now timestamptz default null, max_leases int default 500)
returns table (leases int, requeued int, failed int, cancelled int)
language plpgsql set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
    at timestamptz := coalesce(now, clock_timestamp());
    expired bigint[];
    lost record;
begin
    expired := array(select l.token from forebay.lease l where l.expires_at <= at
                     order by l.token limit max_leases for update skip locked);
    leases := cardinality(expired);
    failed := 0;
    cancelled := forebay.settle_cancelled(expired, at);
    for lost in
        with history as (  -- how earlier runs of these tasks went, and which of them ended last
            select l.token, a.n, a.token as earlier, a.outcome,
                   max(a.token) filter (where a.outcome in ('DONE', 'SKIPPED', 'NOT_FOUND', 'ERROR', 'CANCELLED'))
                       over (partition by l.token, a.n) as ended
            from forebay.lease l join forebay.attempt a
                on a.job_id = l.job_id and a.n >= lower(l.ns) and a.n < upper(l.ns) and a.step_id = l.step_id
            where l.token = any(expired) and l.ns @> a.n
        ),
        counted as (
            select h.token, h.n, count(*) as times from history h
            where h.outcome = 'EXPIRED' and h.earlier > coalesce(h.ended, 0) group by h.token, h.n
        )
        select l.token, l.worker_id, c.n, c.times + 1 as times, extract(epoch from l.claimed_at)::float8 as started
        from counted c join forebay.lease l on l.token = c.token join forebay.step s on s.id = l.step_id
        join forebay.item i on i.job_id = l.job_id and i.n = c.n and i.status = 'PENDING'
        where c.times >= s.max_expiries
        order by l.job_id, l.token, c.n
    loop
        perform forebay.settle(
            lost.worker_id, array[lost.token], array[lost.n], '{ERROR}', '{}', array[lost.started], '{}', '{}', '{}',
            '{transient}', array[format('the worker was lost %s times while it had this task', lost.times)], at);
        failed := failed + 1;
    end loop;
    with gone as (
        delete from forebay.lease l where l.token = any(expired) returning l.*
    ),
    task as materialized (
        select g.*, i.n from gone g cross join lateral unnest(g.ns) r
        join forebay.item i on i.job_id = g.job_id and i.n >= lower(r) and i.n < upper(r) and i.status = 'PENDING'
    ),
    logged as (
        insert into forebay.attempt
            (job_id, n, step_id, attempt, outcome, owner_id, worker_id, token, started_at, ended_at, class, reason)
        select job_id, n, step_id, attempt, 'EXPIRED', owner_id, worker_id, token, claimed_at, at, 'transient',
               'the worker was lost' from task
    ),
    queued as (
        insert into forebay.ready (step_id, lane_id, job_id, owner_id, first_n, last_n, attempt)
        select step_id, lane_id, job_id, owner_id, n, n, attempt - 1 from task order by token, n
        returning step_id, lane_id, seq
    ),
    woken as (
        select count(forebay.wake(q.step_id, q.lane_id, q.seq, at))
        from (select step_id, lane_id, min(seq) as seq from queued group by step_id, lane_id) q
    )
    select count(*) into requeued from task, woken;
    return next;
end $$;

-- Writes how far tasks have come, where the lease still holds them. Best effort: an item that is being written is left out.
create or replace function forebay.report_progress(
    tokens bigint[], ns int[], progress jsonb[], now timestamptz default null
) returns bigint
language plpgsql set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare written bigint;
begin
    with report as (
        select distinct on (l.job_id, g.n) l.job_id, g.n, g.progress
        from unnest(tokens, ns, progress) with ordinality g(token, n, progress, place)
        join forebay.lease l on l.token = g.token and l.ns @> g.n
        order by l.job_id, g.n, g.place desc
    ),
    free as materialized (
        select i.job_id, i.n, r.progress from report r join forebay.item i on i.job_id = r.job_id and i.n = r.n
        where i.status = 'PENDING' for no key update of i skip locked
    )
    update forebay.item i set progress = f.progress from free f where i.job_id = f.job_id and i.n = f.n;
    get diagnostics written = row_count;
    return written;
end $$;

-- Makes scheduled runs ready when their time has come, earliest first. `after` is where the caller left off: nothing
-- earlier is looked at, so dead rows cost nothing; pass -infinity now and then to catch late commits. next_at is when the
-- next run is due (in the past when there is more to move, or a due run is being written by someone else).
create or replace function forebay.promote(
    now timestamptz default null, max_rows int default 1000, after timestamptz default '-infinity'
) returns table (moved int, next_at timestamptz, steps int[], lanes bigint[], seqs bigint[])
language plpgsql set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare at timestamptz := coalesce(now, clock_timestamp());
begin
    with due as (
        delete from forebay.scheduled where ctid = any(array(
            select s.ctid from forebay.scheduled s
            where s.run_at >= after and s.run_at <= at and s.run_at < 'infinity'
            order by s.run_at, s.seq limit max_rows for update skip locked))
        returning run_at, seq, step_id, lane_id, job_id, owner_id, first_n, last_n, attempt
    ),
    queued as (
        insert into forebay.ready (step_id, lane_id, job_id, owner_id, first_n, last_n, attempt)
        select step_id, lane_id, job_id, owner_id, first_n, last_n, attempt from due order by run_at, seq
        returning step_id, lane_id, seq
    ),
    woken as (
        select step_id, lane_id, min(seq) as seq from queued group by step_id, lane_id
    ),
    told as (
        select count(forebay.wake(w.step_id, w.lane_id, w.seq, at)) from woken w
    )
    select (select count(*) from due), array(select w.step_id from woken w), array(select w.lane_id from woken w),
           array(select w.seq from woken w)
    into moved, steps, lanes, seqs from told;
    select s.run_at into next_at from forebay.scheduled s
    where s.run_at >= after and s.run_at < 'infinity' order by s.run_at, s.seq limit 1;
    return next;
end $$;
