-- Submits the due job of a schedule, only once even if called repeatedly (the key contains the time), and sets the next time.
-- Returns null if the job of the last run is still open and the schedule does not allow two.
create or replace function forebay.run_schedule(name text, next_at timestamptz, now timestamptz) returns bigint
language plpgsql as $$
#variable_conflict use_column
declare
    due forebay.schedule;
    due_at text;
    submitted record;
begin
    select s.* into strict due from forebay.schedule s where s.name = run_schedule.name for update;
    if not due.overlap and exists (select from forebay.job j where j.id = due.last_job_id and j.finished_at is null) then
        update forebay.schedule s set next_at = run_schedule.next_at where s.name = due.name;
        return null;
    end if;
    due_at := to_char(due.next_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"');
    submitted := forebay.submit(
        (select p.name from forebay.pipeline p where p.id = due.pipeline_id),
        case when due.due_field = '' then due.input else due.input || jsonb_build_object(due.due_field, due_at) end,
        (select o.name from forebay.owner o where o.id = due.owner_id),
        format('schedule:%s:%s', due.name, due_at),
        due.priority,
        case when due.jitter_s > 0 then run_schedule.now + make_interval(secs => due.jitter_s * random()) end,
        meta => jsonb_build_object('schedule', due.name, 'due_at', due_at),
        now => run_schedule.now);
    update forebay.schedule s set last_at = due.next_at, last_job_id = submitted.job_id, next_at = run_schedule.next_at
    where s.name = due.name;
    return submitted.job_id;
end $$;
