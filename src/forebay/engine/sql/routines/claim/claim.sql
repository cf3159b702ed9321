-- The same as claim_tasks, for workers of the release before pipeline versions.
create or replace function forebay.claim(
    worker_id bigint, steps int[], lanes bigint[], heads bigint[], quotas int[], max_rows int[], reading int[],
    lease_s float8, now timestamptz default null
) returns table (
    token bigint, step_id int, lane_id bigint, job_id bigint, owner_id bigint, attempt smallint, seq bigint, rest int,
    first_n int, last_n int, ns int[], inputs text[], results text[]
) language plpgsql as $$
begin
    return query
    select t.token, t.step_id, t.lane_id, t.job_id, t.owner_id, t.attempt, t.seq, t.rest, t.first_n, t.last_n, t.ns, t.inputs, t.results
    from forebay.claim_tasks(worker_id, steps, lanes, heads, quotas, max_rows, reading, lease_s, now) t;
end $$;
