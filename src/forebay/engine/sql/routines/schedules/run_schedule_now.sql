-- Submits a job of a schedule now, besides its runs; the next run stays as planned. Null if there is no such schedule. The job of the
-- last run, if it is still open and the schedule does not allow two, is returned instead of a new one.
create or replace function forebay.run_schedule_now(
    name text, actor text default current_user, now timestamptz default null, out job_id bigint, out created boolean
) language plpgsql as $$
#variable_conflict use_column
declare
    at timestamptz := coalesce(now, clock_timestamp());
    found_schedule forebay.schedule;
    due_at text := to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"');
    submitted record;
begin
    select s.* into found_schedule from forebay.schedule s where s.name = run_schedule_now.name for update;
    if found_schedule.name is null then
        return;
    end if;
    created := false;
    select j.id into job_id from forebay.job j
    where not found_schedule.overlap and j.id = found_schedule.last_job_id and j.finished_at is null;
    if job_id is not null then
        return;
    end if;
    submitted := forebay.submit(
        (select p.name from forebay.pipeline p where p.id = found_schedule.pipeline_id),
        case when found_schedule.due_field = '' then found_schedule.input
             else found_schedule.input || jsonb_build_object(found_schedule.due_field, due_at) end,
        (select o.name from forebay.owner o where o.id = found_schedule.owner_id),
        null, found_schedule.priority, null,
        meta => jsonb_build_object('schedule', found_schedule.name, 'due_at', due_at),
        now => at);
    job_id := submitted.job_id;
    created := true;
    update forebay.schedule s set last_job_id = submitted.job_id where s.name = found_schedule.name;
    perform forebay.note(actor, 'run_schedule', found_schedule.owner_id, job_id, null,
                         jsonb_build_object('schedule', found_schedule.name), at);
end $$;
