-- Expires leases. Their tasks become ready immediately, one per run (a task that kills its worker must not affect others),
-- without using an attempt; but a task that is lost too often ends as an error, and the tasks of a cancelled job end.
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
