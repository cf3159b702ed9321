-- Statements that drop the routines of part $1, and those from before schema parts with one of its names $2. Without CASCADE:
-- objects of users that depend on them stop the migration, and are named, instead of being dropped.
select format('drop %s %s', r.type, r.identity) as statement
from forebay.list_routines() r join forebay.part_routine o on (o.type, o.identity) = (r.type, r.identity)
where o.part = $1 or o.part = '' and r.name = any(cast($2 as text[]))
order by r.place
