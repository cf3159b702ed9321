-- Pages for people. They go by keys that never change (job id, item number), so that nothing is skipped or seen twice while
-- items move; and a page costs the same however deep it is.

-- The first item of a job that may still be open: all before it have ended.
create or replace function forebay.first_open(job forebay.job) returns int
language plpgsql stable set enable_seqscan = off set jit = off as $$
declare
    own_lane bigint := (select l.id from forebay.lane l where l.job_id = job.id limit 1);
    first int;
begin
    if own_lane is null or own_lane <> job.lane_id then
        return 1;  -- a small job, in its owner's lane: looking at its items is cheaper than looking for its runs
    end if;
    select least(
        (select min(r.first_n) from forebay.ready r
         where r.step_id = any(forebay.steps_of(job)) and r.lane_id = own_lane and r.job_id = job.id),
        (select min(s.first_n) from forebay.scheduled s where s.job_id = job.id),
        (select min(lower(l.ns)) from forebay.lease l where l.job_id = job.id)) into first;
    return coalesce(greatest(first, 1), job.total + 1);
end $$;

-- Items of a job after number `after`, in order: at most max_items that have one of the statuses (null: any), from at most
-- max_rows that are looked at. next_after is where the next page goes on; null when there is no more.
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

-- Open items of an owner (null: of all that the caller may see), by job and number.
create or replace function forebay.find_pending(
    owner_id bigint, after_job bigint, after_n int, statuses forebay.item_status[], max_items int,
    pipeline text default null, job_id bigint default null, since timestamptz default null, until timestamptz default null,
    out job_ids bigint[], out ns int[], out next_job bigint, out next_n int
) language plpgsql stable set enable_seqscan = off set jit = off as $$
#variable_conflict use_column
declare
    open_job record;
    found record;
    looked_at int := 0;
begin
    job_ids := '{}';
    ns := '{}';
    for open_job in
        select j.id from forebay.owner o cross join lateral (
            select j.id from forebay.job j join forebay.pipeline p on p.id = j.pipeline_id
            where j.owner_id = o.id and j.finished_at is null and j.id >= after_job
              and (find_pending.job_id is null or j.id = find_pending.job_id)
              and (find_pending.pipeline is null or p.name = find_pending.pipeline)
              and (since is null or j.updated_at >= since) and (until is null or j.created_at <= until)
            order by j.id limit max_items + 1) j
        where find_pending.owner_id is null or o.id = find_pending.owner_id
        order by j.id limit max_items + 1
    loop
        if cardinality(ns) >= max_items or looked_at >= max_items then
            next_job := open_job.id;
            next_n := 0;
            return;
        end if;
        looked_at := looked_at + 1;
        found := forebay.find_items(
            open_job.id, case when open_job.id = after_job then after_n else 0 end, statuses, max_items - cardinality(ns));
        job_ids := job_ids || array_fill(open_job.id, array[cardinality(found.ns)]);
        ns := ns || found.ns;
        if found.next_after is not null then
            next_job := open_job.id;
            next_n := found.next_after;
            return;
        end if;
    end loop;
end $$;
