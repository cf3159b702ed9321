-- Locks the order of steps[i] for the owner of lanes[i] until the transaction ends: only one worker at a time may determine in which
-- order new tasks come. state: 'locked', 'busy' (another worker does it at this moment), or 'none' (the step has no order).
-- A worker that hangs meanwhile is disconnected.
create or replace function forebay.lock_order(steps int[], lanes bigint[]) returns table (step_id int, lane_id bigint, state text)
language sql as $$
select p.step_id, p.lane_id,
       case when not s.ordered then 'none'
            when pg_try_advisory_xact_lock(forebay.order_lock(s.pipeline_id, s.bit, l.owner_id)) then 'locked' else 'busy' end
from unnest(steps, lanes) p(step_id, lane_id)
join forebay.step s on s.id = p.step_id
join forebay.lane l on l.id = p.lane_id
cross join (select set_config('idle_in_transaction_session_timeout', '10s', true)) t
$$;
