-- Claims up to quotas[i] tasks of each (steps[i], lanes[i]) for a worker: one row per lease, with its inputs as an array.
-- The cost does not depend on the backlog: a lane is read in order from its watermark heads[i], at most max_rows[i] runs.
-- A lease of a run in the lane of a key has the job's lane: what follows from it is enqueued there.
-- Runs of a paused job are moved to that job's lane; runs of a cancelled job are dropped.
-- `results` (of earlier steps) is filled for the steps in `reading`; `rest` is what a split run still contains.
-- version_id: the version of the job's pipeline, which names the results.
-- Large inputs are null here and read when their task starts, so that the result of a claim fits into memory.
create or replace function forebay.claim_tasks(
    worker_id bigint, steps int[], lanes bigint[], heads bigint[], quotas int[], max_rows int[], reading int[],
    lease_s float8, now timestamptz default null
) returns table (
    token bigint, step_id int, lane_id bigint, job_id bigint, owner_id bigint, attempt smallint, seq bigint, rest int,
    first_n int, last_n int, ns int[], inputs text[], results text[], version_id int
) language plpgsql set enable_seqscan = off set jit = off set plan_cache_mode = force_generic_plan as $$
declare
    at timestamptz := coalesce(now, clock_timestamp());
    -- The commit does not wait for the disk. A claim that a crash of the server undoes is ready again, and its worker's
    -- reports are stale; the commit of a report also writes the claims before it.
    commits text := set_config('synchronous_commit', 'off', true);
begin
    if cardinality(steps) = 1 and max_rows[1] <= 8 then
        return query select * from forebay.claim_few(
            worker_id, steps[1], lanes[1], heads[1], quotas[1], max_rows[1], steps[1] = any(reading), lease_s, at);
    else
        return query select * from forebay.claim_many(
            worker_id, steps, lanes, heads, quotas, max_rows, reading, lease_s, at);
    end if;
end $$;
