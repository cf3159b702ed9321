-- Stops reading the file of a job that was cancelled. The engine notes each cancellation in the audit, which this follows.
create or replace function forebay.cancel_intake() returns trigger language plpgsql as $$
declare
    intake bigint := (
        select i.id from forebay.sheet s join forebay.job i on i.id = s.intake_job_id
        where s.job_id = new.job_id and i.finished_at is null);
begin
    if intake is not null then
        perform forebay.cancel(intake, new.actor, new.at);
    end if;
    return null;
exception when sqlstate 'FB005' then
    return null;  -- it has ended meanwhile
end $$;

create or replace trigger cancel_intake after insert on forebay.audit
    for each row when (new.action = 'cancel') execute function forebay.cancel_intake();
