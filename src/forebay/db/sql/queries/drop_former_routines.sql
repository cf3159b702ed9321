-- Statements that drop the routines from before schema parts that no part has taken over.
select format('drop %s %s', r.type, r.identity) as statement
from forebay.list_routines() r join forebay.part_routine o on (o.type, o.identity) = (r.type, r.identity)
where o.part = '' order by r.place
