-- Wakes the workers for one step of one lane, unless they are in the middle of that lane's backlog.
create or replace function forebay.wake(step_id int, lane_id bigint, seq bigint, at timestamptz) returns void
language plpgsql as $$
begin
    if exists (select from forebay.lane l where l.id = lane_id and l.busy_until <= at and not l.paused) then
        perform pg_notify('forebay', 'ready ' || step_id || ' ' || lane_id || ' ' || seq);
    end if;
end $$;
