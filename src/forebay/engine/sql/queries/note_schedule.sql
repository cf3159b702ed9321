-- Records that $1 did $2 to schedule $3.
select forebay.note(cast($1 as text), cast($2 as text), s.owner_id, null, null, jsonb_build_object('schedule', s.name), clock_timestamp())
from forebay.schedule s where s.name = cast($3 as text)
