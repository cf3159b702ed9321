-- Releases leases: their remaining tasks become ready, as if they had not been claimed. Returns the number of tasks.
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
    with open as materialized (  -- items that have ended in the meantime are ignored
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
