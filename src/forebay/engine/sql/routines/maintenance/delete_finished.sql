-- Deletes jobs that finished more than keep ago with all their rows, except attempts (dropped by partition) and audit records.
-- A large job is deleted max_items at a time. of_pipelines: only these; but_pipelines: all except these. Returns the number of
-- deleted rows: repeat until 0.
create or replace function forebay.delete_finished(
    now timestamptz default null, keep interval default '30 days', max_jobs int default 100, max_items int default 10000,
    of_pipelines text[] default null, but_pipelines text[] default null
) returns bigint language plpgsql set enable_seqscan = off as $$
declare
    horizon timestamptz := coalesce(now, clock_timestamp()) - keep;
    only_ids int[] := case when of_pipelines is not null then forebay.pipeline_ids(of_pipelines) end;
    but_ids int[] := forebay.pipeline_ids(coalesce(but_pipelines, '{}'));
    doomed forebay.job;
    gone bigint;
    deleted bigint := 0;
begin
    for doomed in
        select j.* from forebay.job j where j.finished_at < horizon
          and (only_ids is null or j.pipeline_id = any(only_ids)) and not (j.pipeline_id = any(but_ids))
        order by j.finished_at limit max_jobs for update skip locked
    loop
        continue when not pg_try_advisory_xact_lock(hashtextextended('forebay.job', doomed.id));
        delete from forebay.item i where i.job_id = doomed.id and i.n = any(array(
            select d.n from forebay.item d where d.job_id = doomed.id order by d.n limit max_items - deleted));
        get diagnostics gone = row_count;
        deleted := deleted + gone;
        exit when deleted >= max_items;
        delete from forebay.dead_letter d where d.job_id = doomed.id;
        -- drop_dead_runs() drops its remaining runs in the owner's lane: searching for them here costs too much.
        delete from forebay.ready r
        where r.step_id = any(forebay.steps_of(doomed)) and r.job_id = doomed.id
          and r.lane_id in (select l.id from forebay.lane l where l.job_id = doomed.id);
        delete from forebay.scheduled s where s.job_id = doomed.id;
        delete from forebay.waiting w where w.job_id = doomed.id;
        delete from forebay.lease l where l.job_id = doomed.id;
        delete from forebay.lane l where l.job_id = doomed.id;
        with gone as (
            delete from forebay.job j where j.id = doomed.id returning j.*
        )
        insert into forebay.tally (owner_id, pipeline_id, done, skipped, not_found, error)
        select g.owner_id, g.pipeline_id, -g.done, -g.skipped, -g.not_found, -g.error from gone g where g.total > 0;
        deleted := deleted + 1;
        exit when deleted >= max_items;
    end loop;
    return deleted;
end $$;
