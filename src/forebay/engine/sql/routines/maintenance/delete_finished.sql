-- Deletes jobs that finished more than keep ago with all their rows, except attempts (dropped by partition) and audit records.
-- Jobs of one item are deleted together, others one by one, a large one max_items at a time. of_pipelines: only these;
-- but_pipelines: all except these. Children are deleted with the job that they belong to, when they have all ended. Returns the
-- number of deleted rows: repeat until 0.
create or replace function forebay.delete_finished(
    now timestamptz default null, keep interval default '30 days', max_jobs int default 500, max_items int default 10000,
    of_pipelines text[] default null, but_pipelines text[] default null
) returns bigint language plpgsql set enable_seqscan = off as $$
declare
    horizon timestamptz := coalesce(now, clock_timestamp()) - keep;
    only_ids int[] := case when of_pipelines is not null then forebay.pipeline_ids(of_pipelines) end;
    but_ids int[] := forebay.pipeline_ids(coalesce(but_pipelines, '{}'));
    small bigint[];
    large bigint[];
    doomed bigint;
    gone bigint;
    deleted bigint := 0;
begin
    with old as materialized (
        select j.id, j.total, j.finished_at, exists (select from forebay.job c where c.parent_id = j.id) as has_children
        from forebay.job j where j.finished_at < horizon
          and (only_ids is null or j.pipeline_id = any(only_ids)) and not (j.pipeline_id = any(but_ids))
          and (j.parent_id is null or not exists (select from forebay.job p where p.id = j.parent_id))
          and not exists (select from forebay.job c where c.parent_id = j.id and c.finished_at is null)
        order by j.finished_at limit max_jobs for update skip locked
    ),
    mine as materialized (
        select o.* from old o where pg_try_advisory_xact_lock(hashtextextended('forebay.job', o.id))
    )
    select array(select m.id from mine m where m.total <= 1 and not m.has_children order by m.finished_at limit max_items),
           array(select m.id from mine m where m.total > 1 or m.has_children order by m.finished_at)
    into small, large;
    if cardinality(small) > 0 then
        delete from forebay.item i where i.job_id = any(small);
        get diagnostics gone = row_count;
        deleted := gone + forebay.delete_jobs(small);
    end if;
    foreach doomed in array large loop
        exit when deleted >= max_items;
        deleted := deleted + forebay.delete_job(doomed, max_items - deleted);
    end loop;
    return deleted;
end $$;
