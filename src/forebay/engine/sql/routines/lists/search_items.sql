-- Items of a job after number `start`, in order, or before it in descending order if is_back: at most max_items with one of the
-- statuses (null: any) that were updated since a time and before another (null: any), reading at most max_rows rows. next_start is
-- the start of the next page, null if there are no more; looked_at is the number of rows that were read.
create or replace function forebay.search_items(
    job_id bigint, start int, is_back boolean, statuses forebay.item_status[], max_items int, max_rows int,
    since timestamptz default null, until timestamptz default null,
    out ns int[], out next_start int, out looked_at int
) language plpgsql stable set enable_seqscan = off set jit = off set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
    job forebay.job;
    first int := 1;
    failed constant forebay.item_status[] := '{SKIPPED, NOT_FOUND, ERROR}';
    item record;
begin
    select j.* into job from forebay.job j where j.id = search_items.job_id;
    ns := '{}';
    looked_at := 0;
    if job.id is null then
        return;
    end if;
    -- Of each two branches one is executed, so that both directions are read in the order of the index.
    if statuses <@ failed and since is null and until is null then  -- else not bounded: few of them may fit
        ns := array(
            (select i.n from forebay.item i
             where not is_back and i.job_id = job.id and i.n > start and i.n > 0 and i.verdict <> 'DONE'
               and i.status = any(statuses)
             order by i.n limit max_items + 1)
            union all
            (select i.n from forebay.item i
             where is_back and i.job_id = job.id and i.n < start and i.n > 0 and i.verdict <> 'DONE'
               and i.status = any(statuses)
             order by i.n desc limit max_items + 1));
        looked_at := cardinality(ns);
        if cardinality(ns) > max_items then
            ns := ns[:max_items];
            next_start := ns[max_items];
        end if;
        return;
    end if;
    if statuses <@ '{PENDING, PROCESSING}' then
        first := greatest(first, forebay.first_open(job));
    end if;
    for item in
        select i.n, (since is null or i.updated_at >= since) and (until is null or i.updated_at < until)
            and (statuses is null or case
                when i.status <> 'PENDING' then i.status
                when exists (select from forebay.lease l where l.job_id = job.id and l.ns @> i.n) then 'PROCESSING'
                else 'PENDING' end = any(statuses)) as fits
        from (
            (select i.n, i.status, i.updated_at from forebay.item i
             where not is_back and i.job_id = job.id and i.n > start and i.n >= first order by i.n limit max_rows)
            union all
            (select i.n, i.status, i.updated_at from forebay.item i
             where is_back and i.job_id = job.id and i.n < start and i.n >= first order by i.n desc limit max_rows)
        ) i
    loop
        looked_at := looked_at + 1;
        if item.fits then
            ns := ns || item.n;
        end if;
        if cardinality(ns) = max_items or looked_at = max_rows then
            next_start := item.n;
            exit;
        end if;
    end loop;
    if is_back and next_start <= first or not is_back and next_start >= job.total then
        next_start := null;
    end if;
end $$;
