-- Items of an owner (null: all that the caller may see) with one of the statuses, by job and number: of open jobs, or of one job in
-- any state. `since` and `until` are times at which the items were updated. Reads at most max_rows items; a page may then be short.
create or replace function forebay.find_pending(
    owner_id bigint, after_job bigint, after_n int, statuses forebay.item_status[], max_items int,
    pipeline text default null, job_id bigint default null, since timestamptz default null, until timestamptz default null,
    max_rows int default 20000, out job_ids bigint[], out ns int[], out next_job bigint, out next_n int
) language plpgsql stable set enable_seqscan = off set jit = off as $$
#variable_conflict use_column
declare
    open_job record;
    found record;
    jobs int := 0;
    rows_left int := max_rows;
begin
    job_ids := '{}';
    ns := '{}';
    for open_job in
        (select j.id from forebay.owner o cross join lateral (
            select j.id from forebay.job j join forebay.pipeline p on p.id = j.pipeline_id
            where j.owner_id = o.id and j.finished_at is null and j.id >= after_job
              and (find_pending.pipeline is null or p.name = find_pending.pipeline)
              and (since is null or j.updated_at >= since - interval '1 minute')  -- it lags behind its items
              and (until is null or j.created_at < until)
            order by j.id limit max_items + 1) j
         where find_pending.job_id is null and (find_pending.owner_id is null or o.id = find_pending.owner_id)
         order by j.id limit max_items + 1)
        union all
        select j.id from forebay.job j join forebay.pipeline p on p.id = j.pipeline_id
        where j.id = find_pending.job_id and j.id >= after_job
          and (find_pending.owner_id is null or j.owner_id = find_pending.owner_id)
          and (find_pending.pipeline is null or p.name = find_pending.pipeline)
    loop
        if cardinality(ns) >= max_items or jobs >= max_items or rows_left <= 0 then
            next_job := open_job.id;
            next_n := 0;
            return;
        end if;
        jobs := jobs + 1;
        found := forebay.find_items(
            open_job.id, case when open_job.id = after_job then after_n else 0 end, statuses, max_items - cardinality(ns),
            rows_left, since => since, until => until);
        rows_left := rows_left - found.looked_at;
        job_ids := job_ids || array_fill(open_job.id, array[cardinality(found.ns)]);
        ns := ns || found.ns;
        if found.next_after is not null then
            next_job := open_job.id;
            next_n := found.next_after;
            return;
        end if;
    end loop;
end $$;
