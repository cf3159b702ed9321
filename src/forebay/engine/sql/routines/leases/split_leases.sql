-- Splits leases of several tasks into leases of one task each; returns the token of each task that got another one.
create or replace function forebay.split_leases(worker_id bigint, tokens bigint[])
returns table (token bigint, n int, new_token bigint)
language plpgsql set enable_seqscan = off set jit = off set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
begin
    return query
    with mine as materialized (
        select l.* from forebay.lease l
        where l.token = any(tokens) and l.worker_id = split_leases.worker_id and upper(l.ns) > lower(l.ns) + 1
        order by l.token for update
    ),
    task as materialized (
        select m.token, t.n, forebay.next_token() as new_token from mine m
        cross join lateral (
            select generate_series(lower(r), upper(r) - 1) as n from unnest(m.ns) r offset 0) t
        where t.n > lower(m.ns)
    ),
    kept as (
        update forebay.lease l set ns = int4multirange(int4range(lower(m.ns), lower(m.ns), '[]'))
        from mine m where l.token = m.token
    ),
    added as (
        insert into forebay.lease (token, step_id, lane_id, job_id, owner_id, worker_id, attempt, claimed_at, expires_at, ns)
        select t.new_token, m.step_id, m.lane_id, m.job_id, m.owner_id, m.worker_id, m.attempt, m.claimed_at, m.expires_at,
               int4multirange(int4range(t.n, t.n, '[]'))
        from task t join mine m on m.token = t.token
    )
    select t.token, t.n, t.new_token from task t;
end $$;
