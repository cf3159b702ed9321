-- The routines of part $1, in the order in which they can be dropped.
select r.type, r.identity
from forebay.part_routine o join forebay.list_routines() r on (r.type, r.identity) = (o.type, o.identity)
where o.part = $1 order by r.place
