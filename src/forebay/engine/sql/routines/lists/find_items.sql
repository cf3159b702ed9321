-- Items of a job after number `after`, in order: at most max_items with one of the statuses (null: any), reading at most
-- max_rows rows. next_after is the start of the next page; null if there are no more.
create or replace function forebay.find_items(
    job_id bigint, after int, statuses forebay.item_status[], max_items int, max_rows int default 20000,
    out ns int[], out next_after int
) language plpgsql stable set enable_seqscan = off set jit = off set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
    job forebay.job;
    start int := after;
    failed constant forebay.item_status[] := '{SKIPPED, NOT_FOUND, ERROR}';
    seen int;
    seen_to int;
begin
    select j.* into job from forebay.job j where j.id = find_items.job_id;
    ns := '{}';
    if job.id is null then
        return;
    elsif statuses <@ failed then
        ns := array(
            select i.n from forebay.item i
            where i.job_id = job.id and i.n > start and i.n > 0 and i.status in ('SKIPPED', 'NOT_FOUND', 'ERROR')
              and i.status = any(statuses)
            order by i.n limit max_items + 1);
        if cardinality(ns) > max_items then
            ns := ns[:max_items];
            next_after := ns[max_items];
        end if;
        return;
    elsif statuses <@ '{PENDING, PROCESSING}' then
        start := greatest(start, forebay.first_open(job) - 1);
    end if;
    select coalesce(array_agg(f.n order by f.n) filter (where f.fits), '{}'), count(*), max(f.n) into ns, seen, seen_to
    from (
        select s.n, s.fits, count(*) filter (where s.fits) over (order by s.n) as so_far
        from (
            select i.n, statuses is null or case
                when i.status <> 'PENDING' then i.status
                when exists (select from forebay.lease l where l.job_id = job.id and l.ns @> i.n) then 'PROCESSING'
                else 'PENDING' end = any(statuses) as fits
            from forebay.item i where i.job_id = job.id and i.n > start and i.n > 0 order by i.n
            limit case when statuses is null then max_items else max_rows end
        ) s
    ) f where f.so_far < max_items or f.so_far = max_items and f.fits;
    next_after := case when cardinality(ns) = max_items or seen >= max_rows then seen_to end;
    if next_after >= job.total then
        next_after := null;
    end if;
end $$;
