-- Expires leases. Their tasks become ready immediately, one per run (a task that kills its worker must not affect others),
-- without using an attempt; but a task that is lost too often ends as an error, and the tasks of a cancelled job end. Tasks that
-- were lost twice before become ready one after the other, within ten seconds: one of them may kill its workers, and those that
-- run together with it are lost as well.
-- Leases are read from first_token on: below the lowest one there may be millions of dead rows that a long transaction keeps.
create or replace function forebay.expire(now timestamptz default null, max_leases int default 500, first_token bigint default 0)
returns table (leases int, requeued int, failed int, cancelled int)
language plpgsql set enable_seqscan = off set jit = off set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
    at timestamptz := coalesce(now, clock_timestamp());
    expired bigint[];
begin
    expired := array(select l.token from forebay.lease l where l.token >= first_token and l.expires_at <= at
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
        select t.*, coalesce(o.times, 0) >= 2 as is_suspect
        from forebay.open_tasks(expired) t left join forebay.count_losses(expired) o on o.token = t.token and o.n = t.n
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
        select step_id, lane_id, job_id, owner_id, n, n, attempt - 1 from task where not is_suspect order by token, n
        returning step_id, lane_id, seq
    ),
    apart as (
        insert into forebay.scheduled (run_at, step_id, lane_id, job_id, owner_id, first_n, last_n, attempt)
        select at + make_interval(secs => s.place::float8 * least(1, 10 / s.size::float8)), s.step_id, s.lane_id, s.job_id,
               s.owner_id, s.n, s.n, s.attempt - 1
        from (select t.*, row_number() over (order by t.token, t.n) as place, count(*) over () as size
              from task t where t.is_suspect) s
    ),
    woken as (
        select count(forebay.wake(q.step_id, q.lane_id, q.seq, at))
        from (select step_id, lane_id, min(seq) as seq from queued group by step_id, lane_id) q
    )
    select count(*) into requeued from task, woken;
    return next;
end $$;
