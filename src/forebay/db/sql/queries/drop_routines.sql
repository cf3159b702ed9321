-- What drops the routines of part $1, and those from before there were parts that have one of its names $2. Not cascading: what
-- others have built upon these stops the migration, and is named, instead of vanishing.
select format('drop %s %s', r.type, r.identity) as statement
from forebay.list_routines() r join forebay.part_routine o on (o.type, o.identity) = (r.type, r.identity)
where o.part = $1 or o.part = '' and r.name = any(cast($2 as text[]))
order by r.place
