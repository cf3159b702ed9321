-- Claims up to quotas[i] tasks of each (steps[i], lanes[i]) for a worker: one row a lease, its inputs side by side.
-- The cost does not depend on the backlog: a lane is entered at its watermark heads[i] and read in order, max_rows[i] runs
-- at most. Runs of a paused job move to that job's own lane on the way; those of a cancelled job are dropped.
-- `results` (what earlier steps returned) is filled for the steps in `reading`; `rest` is what a cut run still holds.
-- Large inputs stay where they are (null) until their task begins, so that no claim brings more than memory can hold.
create or replace function forebay.claim(
    worker_id bigint, steps int[], lanes bigint[], heads bigint[], quotas int[], max_rows int[], reading int[],
    lease_s float8, now timestamptz default null
) returns table (
    token bigint, step_id int, lane_id bigint, job_id bigint, owner_id bigint, attempt smallint, seq bigint, rest int,
    first_n int, last_n int, ns int[], inputs text[], results text[]
) language plpgsql set enable_seqscan = off set jit = off set plan_cache_mode = force_generic_plan as $$
declare at timestamptz := coalesce(now, clock_timestamp());
begin
    for i in 1 .. cardinality(steps) loop
        if max_rows[i] <= 8 then
            return query select * from forebay.claim_few(
                worker_id, steps[i], lanes[i], heads[i], quotas[i], max_rows[i], steps[i] = any(reading), lease_s, at);
        else
            return query select * from forebay.claim_many(
                worker_id, steps[i], lanes[i], heads[i], quotas[i], max_rows[i], steps[i] = any(reading), lease_s, at);
        end if;
    end loop;
end $$;
