-- Wakes the workers for one step of one lane, unless they are in the middle of its backlog.
create or replace function forebay.wake(step_id int, lane_id bigint, seq bigint, at timestamptz) returns void
language plpgsql as $$
begin
    if exists (select from forebay.lane l where l.id = wake.lane_id and not l.paused)
       and not exists (
           select from forebay.busy_lane b
           where b.lane_id = wake.lane_id and b.step_id = wake.step_id and b.until > wake.at) then
        perform pg_notify('forebay', 'ready ' || step_id || ' ' || lane_id || ' ' || seq);
    end if;
end $$;
