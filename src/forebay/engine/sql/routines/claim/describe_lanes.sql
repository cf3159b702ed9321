-- The owner, priority and weight of lanes, which workers need for fair sharing.
create or replace function forebay.describe_lanes(lanes bigint[]) returns table (
    lane_id bigint, owner_id bigint, priority smallint, weight real, paused boolean
) language sql stable as $$
select l.id, l.owner_id, l.priority, o.weight, l.paused
from forebay.lane l join forebay.owner o on o.id = l.owner_id where l.id = any(lanes)
$$;
