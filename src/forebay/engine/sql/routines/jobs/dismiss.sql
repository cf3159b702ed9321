-- Removes dead letters of a job, or of some of its items, from the list. The items keep their status and their error, and
-- can still be reprocessed; the audit log records who dismissed how many. Returns the number of dead letters.
create or replace function forebay.dismiss(
    job_id bigint, items int[] default null, actor text default current_user, now timestamptz default null
) returns int language plpgsql as $$
#variable_conflict use_column
declare
    job forebay.job := forebay.lock_job(job_id);
    dismissed int;
begin
    delete from forebay.dead_letter d where d.job_id = job.id and (dismiss.items is null or d.n = any(dismiss.items));
    get diagnostics dismissed = row_count;
    if dismissed > 0 then
        perform forebay.note(actor, 'dismiss', job.owner_id, job.id, null, jsonb_build_object('dead_letters', dismissed),
                             coalesce(now, clock_timestamp()));
    end if;
    return dismissed;
end $$;
