-- Renews the leases that this worker still holds, and updates the worker's heartbeat. A token that is not returned is lost;
-- the tasks of a cancelled one should be stopped soon. A renewal never shortens a lease.
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
    free as materialized (  -- a locked lease is held, too, and must not delay the others
        select l.token from forebay.lease l where l.token in (select m.token from mine m)
        order by l.token for update skip locked
    ),
    renewed as (
        update forebay.lease l set expires_at = greatest(l.expires_at, at + make_interval(secs => m.seconds))
        from free f join mine m on m.token = f.token where l.token = f.token
    )
    select m.token, m.cancelled from mine m;
end $$;
