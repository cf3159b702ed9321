-- Pauses, resumes or cancels a job of children, unless it is so already or has ended.
create or replace function forebay.change_child(child forebay.job, action text, actor text, at timestamptz) returns void
language plpgsql as $$
begin
    if action = 'pause' and child.state in ('QUEUED', 'RUNNING') then
        perform forebay.pause(child.id, actor, at);
    elsif action = 'resume' and child.state = 'PAUSED' then
        perform forebay.resume(child.id, actor, at);
    elsif action = 'cancel' and child.state <> 'CANCELLED' then
        perform forebay.cancel(child.id, actor, at);
    end if;
exception when sqlstate 'FB005' then
    null;  -- it has ended since it was read
end $$;
