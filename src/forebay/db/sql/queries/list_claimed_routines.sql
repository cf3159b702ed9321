-- The routines of other parts that have a name which part $1 declares. $2: its routines, each as "type name".
select o.part, r.type, r.identity, k.key
from forebay.part_routine o
join forebay.list_routines() r on (r.type, r.identity) = (o.type, o.identity)
cross join lateral (
    select case r.type when 'trigger' then 'trigger ' || r.identity when 'view' then 'view ' || r.name
                       else 'function ' || r.name end as key) k
where o.part not in ('', $1) and k.key = any(cast($2 as text[]))
order by r.type, r.identity
