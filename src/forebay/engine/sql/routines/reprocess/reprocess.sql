-- Runs ended items again, and returns their number: those with one of the statuses, all or only `ns`. A DONE item starts from
-- the beginning; any other keeps its completed steps and their results, unless restart is true. Without reset_attempts, each
-- step that runs again runs once. Items with nothing to run are left unchanged.
create or replace function forebay.reprocess(
    job_id bigint, statuses text[] default '{ERROR,NOT_FOUND}', ns int[] default null, reset_attempts boolean default true,
    actor text default current_user, now timestamptz default null, restart boolean default false
) returns int language plpgsql as $$
#variable_conflict use_column
declare
    at timestamptz := coalesce(now, clock_timestamp());
    job forebay.job := forebay.lock_job(job_id);
    old_version int := coalesce(job.version_id, -job.pipeline_id);
    chosen int4multirange;
    wanted forebay.item_status[];
    reopened int;
begin
    if coalesce(cardinality(statuses), 0) = 0 or not statuses <@ '{DONE,SKIPPED,NOT_FOUND,ERROR}' then
        perform forebay.refuse('FB002', 'statuses', 'must be among DONE, SKIPPED, NOT_FOUND and ERROR');
    end if;
    wanted := statuses;
    if ns is not null then
        select coalesce(range_agg(int4range(n, n, '[]')), '{}') into chosen from unnest(ns) n;
    end if;
    perform forebay.hold_order(array[job.id]);
    job := forebay.prepare_reprocess(job, at);
    if not exists (select from forebay.item i where i.job_id = job.id and forebay.is_chosen(i, wanted, chosen)
                   and exists (select from forebay.next_steps(job, case when i.status = 'DONE' or restart then 0 else i.done end))) then
        reopened := forebay.reopen_job_item(job, wanted, chosen, reset_attempts, at);
        if reopened = 0 then
            return 0;
        end if;
    else
        perform forebay.cut_reprocessed(job, wanted, chosen);
        perform forebay.end_ordered_of(array[job.id], at);
        reopened := forebay.reopen(job, wanted, chosen, reset_attempts, restart, at);
    end if;
    if job.version_id <> old_version then
        perform forebay.rename_results(array[job.id], old_version, job.version_id);
    end if;
    delete from forebay.throttled_task t where t.job_id = job.id;
    if job.state <> 'PAUSED' then
        perform forebay.wake_job(job, at);
    end if;
    perform forebay.note(actor, 'reprocess', job.owner_id, job.id, null, jsonb_build_object(
        'items', reopened, 'statuses', statuses, 'chosen', cardinality(ns), 'reset_attempts', reset_attempts, 'restart', restart), at);
    return reopened;
end $$;
