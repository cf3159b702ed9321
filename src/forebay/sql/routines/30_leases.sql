-- What happens to a lease besides being settled: renewed, handed back, run out. And how scheduled runs become ready.
-- Locks are taken in the order of settle(): leases by token, then items, then jobs.

-- Renews the leases that this worker still holds, and says that it is alive. A token that does not come back is lost;
-- a cancelled one should be given up soon. A renewal never shortens a lease.
create or replace function forebay.heartbeat(
    worker_id bigint, tokens bigint[], lease_s float8[], now timestamptz default null
) returns table (token bigint, cancelled boolean)
language plpgsql set enable_seqscan = off set jit = off set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare at timestamptz := coalesce(now, clock_timestamp());
begin
    update forebay.worker w set seen_at = greatest(w.seen_at, at), stopped_at = null where w.id = heartbeat.worker_id;
    return query
    with mine as materialized (
        select l.token, l.cancelled, g.seconds from unnest(tokens, lease_s) g(token, seconds)
        join forebay.lease l on l.token = g.token
        where l.worker_id = heartbeat.worker_id
    ),
    free as materialized (  -- one that somebody is writing to is held, too, and must not keep the others waiting
        select l.token from forebay.lease l where l.token in (select m.token from mine m)
        order by l.token for update skip locked
    ),
    renewed as (
        update forebay.lease l set expires_at = greatest(l.expires_at, at + make_interval(secs => m.seconds))
        from free f join mine m on m.token = f.token where l.token = f.token
    )
    select m.token, m.cancelled from mine m;
end $$;

-- The tasks that these leases still hold, of items that are still open; and whether their job is cancelled. `batch` parts
-- them for settle(): one worker and one step (an item may be in the leases of two), and not too many.
create or replace function forebay.open_tasks(tokens bigint[])
returns table (token bigint, n int, step_id int, lane_id bigint, job_id bigint, owner_id bigint, worker_id bigint,
               attempt smallint, cancelled boolean, claimed_at timestamptz, batch bigint)
language sql stable set enable_seqscan = off set jit = off as $$
select l.token, i.n, l.step_id, l.lane_id, l.job_id, l.owner_id, l.worker_id, l.attempt, l.given_up, l.claimed_at,
       row_number() over (partition by l.worker_id, l.step_id order by l.token, i.n) / 500
from (select l.*, l.cancelled or j.state = 'CANCELLED' as given_up
      from forebay.lease l join forebay.job j on j.id = l.job_id where l.token = any(tokens) offset 0) l
cross join lateral unnest(l.ns) r cross join lateral (
    select i.n from forebay.item i where i.job_id = l.job_id and i.n >= lower(r) and i.n < upper(r) and i.status = 'PENDING'
    offset 0) i
$$;

-- Settles tasks in the name of a worker that will not do so any more.
create or replace function forebay.give_up(
    worker_id bigint, tokens bigint[], ns int[], started timestamptz[], outcome forebay.outcome, ends_item boolean,
    class text, reasons text[], now timestamptz
) returns void language plpgsql as $$
declare size int[] := array[cardinality(tokens)];
begin
    perform forebay.settle(
        worker_id, tokens, ns, array_fill(outcome, size), '{}', array(select extract(epoch from s)::float8 from unnest(started) s),
        '{}', '{}', array_fill(ends_item, size), array_fill(class, size), reasons, now);
end $$;

-- Ends the open tasks of those of these leases whose job is cancelled. Tells how many; the leases may stay, without them.
create or replace function forebay.settle_cancelled(tokens bigint[], now timestamptz) returns int
language plpgsql set jit = off as $$
declare
    batch record;
    ended int := 0;
begin
    for batch in
        select t.worker_id, t.step_id, array_agg(t.token) as tokens, array_agg(t.n) as ns, array_agg(t.claimed_at) as started,
               array_agg('the job was cancelled'::text) as reasons
        from forebay.open_tasks(tokens) t where t.cancelled
        group by t.worker_id, t.step_id, t.batch order by t.worker_id, t.step_id, t.batch
    loop
        perform forebay.give_up(
            batch.worker_id, batch.tokens, batch.ns, batch.started, 'CANCELLED', true, 'cancelled', batch.reasons, now);
        ended := ended + cardinality(batch.ns);
    end loop;
    return ended;
end $$;

-- Ends those tasks of these leases that were lost max_expiries times before, since they last ended. Tells how many.
create or replace function forebay.settle_lost(tokens bigint[], now timestamptz) returns int
language plpgsql set enable_seqscan = off set jit = off as $$
declare
    batch record;
    ended int := 0;
begin
    for batch in
        with history as (  -- how earlier runs of these tasks went, and which of them ended last
            select l.token, a.n, a.earlier, a.outcome,
                   max(a.earlier) filter (where a.outcome in ('DONE', 'SKIPPED', 'NOT_FOUND', 'ERROR', 'CANCELLED'))
                       over (partition by l.token, a.n) as ended
            from forebay.lease l cross join lateral unnest(l.ns) r cross join lateral (
                select a.n, a.token as earlier, a.outcome from forebay.attempt a
                where a.job_id = l.job_id and a.n >= lower(r) and a.n < upper(r) and a.step_id = l.step_id offset 0) a
            where l.token = any(tokens)
        ),
        lost as materialized (
            select h.token, h.n, count(*) as times from history h
            where h.outcome = 'EXPIRED' and h.earlier > coalesce(h.ended, 0) group by h.token, h.n
        )
        select t.worker_id, t.step_id, array_agg(t.token) as tokens, array_agg(t.n) as ns, array_agg(t.claimed_at) as started,
               array_agg(format('the worker was lost %s times while it had this task', o.times + 1)) as reasons
        from lost o join forebay.open_tasks(array(select distinct token from lost)) t on t.token = o.token and t.n = o.n
        join forebay.step s on s.id = t.step_id
        where o.times >= s.max_expiries
        group by t.worker_id, t.step_id, t.batch order by t.worker_id, t.step_id, t.batch
    loop
        perform forebay.give_up(
            batch.worker_id, batch.tokens, batch.ns, batch.started, 'ERROR', false, 'transient', batch.reasons, now);
        ended := ended + cardinality(batch.ns);
    end loop;
    return ended;
end $$;

-- Hands leases back: what is left of them can be claimed again, as if this claim had not been. Tells how many tasks.
create or replace function forebay.release(worker_id bigint, tokens bigint[], now timestamptz default null) returns int
language plpgsql set enable_seqscan = off set jit = off set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
    at timestamptz := coalesce(now, clock_timestamp());
    mine bigint[];
    released int;
begin
    mine := array(select l.token from forebay.lease l where l.token = any(tokens) and l.worker_id = release.worker_id
                  order by l.token for update);
    released := forebay.settle_cancelled(mine, at);
    with open as materialized (  -- an item that has ended meanwhile needs nothing more
        select t.token, t.step_id, t.lane_id, t.job_id, t.owner_id, t.attempt, range_agg(int4range(t.n, t.n, '[]')) as ns,
               count(*) as size
        from forebay.open_tasks(mine) t group by t.token, t.step_id, t.lane_id, t.job_id, t.owner_id, t.attempt
    ),
    gone as (
        delete from forebay.lease l where l.token = any(mine)
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
-- must not take others along) and without having spent an attempt; but a task that is lost too often is in error, and
-- those of a cancelled job end.
create or replace function forebay.expire(now timestamptz default null, max_leases int default 500)
returns table (leases int, requeued int, failed int, cancelled int)
language plpgsql set enable_seqscan = off set jit = off set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
    at timestamptz := coalesce(now, clock_timestamp());
    expired bigint[];
begin
    expired := array(select l.token from forebay.lease l where l.expires_at <= at
                     order by l.token limit max_leases for update skip locked);
    leases := cardinality(expired);
    requeued := 0;
    failed := 0;
    cancelled := 0;
    if leases = 0 then
        return next;
        return;
    end if;
    cancelled := forebay.settle_cancelled(expired, at);
    failed := forebay.settle_lost(expired, at);
    with task as materialized (
        select * from forebay.open_tasks(expired)
    ),
    gone as (
        delete from forebay.lease l where l.token = any(expired)
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
language plpgsql set enable_seqscan = off set jit = off set plan_cache_mode = force_generic_plan as $$
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
language plpgsql set enable_seqscan = off set jit = off set plan_cache_mode = force_generic_plan as $$
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
