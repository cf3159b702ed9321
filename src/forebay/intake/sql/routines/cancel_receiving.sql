-- Stops receiving the file of a job that was cancelled. The engine notes each cancellation in the audit, which this follows.
create or replace function forebay.cancel_receiving() returns trigger language plpgsql as $$
declare
    receiving bigint := (
        select i.id from forebay.intake_file f join forebay.job i on i.id = f.intake_job_id
        where f.job_id = new.job_id and i.finished_at is null);
begin
    if receiving is not null then
        perform forebay.cancel(receiving, new.actor, new.at);
    end if;
    return null;
exception when sqlstate 'FB005' then
    return null;  -- it has ended meanwhile
end $$;

create or replace trigger cancel_receiving after insert on forebay.audit
    for each row when (new.action = 'cancel') execute function forebay.cancel_receiving();
