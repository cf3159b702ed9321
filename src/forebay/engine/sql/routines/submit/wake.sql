-- Wakes the workers for one step of one lane, unless they are in the middle of its backlog. From a lane of a key they
-- claim no more than its limit admits.
create or replace function forebay.wake(step_id int, lane_id bigint, seq bigint, at timestamptz) returns void
language plpgsql as $$
begin
    perform pg_notify('forebay', concat_ws(' ', case when l.limit_name = '' then 'ready' else 'key' end, step_id, lane_id, seq))
    from forebay.lane l
    where l.id = wake.lane_id and not l.paused
      and not exists (
          select from forebay.busy_lane b
          where b.lane_id = wake.lane_id and b.step_id = wake.step_id and b.until > wake.at);
end $$;
