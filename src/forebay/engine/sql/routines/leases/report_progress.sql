-- Writes the progress of tasks whose lease still holds them. Best effort: locked items are skipped.
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
