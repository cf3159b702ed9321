-- Records what part $1 has created since the versions were $2. Returns statements that drop the routines that it no longer has,
-- and those from before schema parts with one of its names $3, because calls would match both.
with made as materialized (
    select r.type, r.identity from forebay.list_routines() r
    where r.version <> all(cast($2 as text[])) and not exists (
        select from forebay.part_routine o where (o.type, o.identity) = (r.type, r.identity) and o.part not in ('', $1))
),
noted as (
    insert into forebay.part_routine (type, identity, part) select m.type, m.identity, $1 from made m
    on conflict (type, identity) do update set part = excluded.part
),
gone as (
    delete from forebay.part_routine o
    where (o.type, o.identity) not in (select m.type, m.identity from made m)
      and (o.part = $1 or o.part = '' and (o.type, o.identity) in (
          select r.type, r.identity from forebay.list_routines() r where r.name = any(cast($3 as text[]))))
    returning o.type, o.identity
)
select format('drop %s %s', r.type, r.identity) as statement
from gone g join forebay.list_routines() r on (r.type, r.identity) = (g.type, g.identity) order by r.place
