-- Jobs that changed after ($3, $4), oldest first, of owners $1, or of all if $2; at most $5, reading at most as many ended ones.
with watched as (
    select unnest($1::bigint[]) as id where not $2::boolean
    union all
    select o.id from forebay.owner o where $2
),
ended as materialized (  -- of all owners, because of the order of the index
    select j.id, j.owner_id, j.finished_at as at from forebay.job j
    where j.finished_at >= $3::timestamptz and (j.finished_at, j.id) > ($3, $4::bigint)
    order by j.finished_at, j.id limit $5
),
looked_to as (  -- where the scan stopped, if there may be more
    select e.id, e.at from (select e.id, e.at, count(*) over () as found from ended e) e where e.found = $5
    order by e.at desc, e.id desc limit 1
),
changed as (
    select o.id, o.owner_id, o.at from watched w cross join lateral (
        select j.id, j.owner_id, j.updated_at as at from forebay.job j
        where j.owner_id = w.id and j.finished_at is null
          and j.updated_at >= $3 and (j.updated_at, j.id) > ($3, $4)
        order by j.updated_at, j.id limit $5) o
    union all
    select e.id, e.owner_id, e.at from ended e where $2 or e.owner_id = any($1)
)
select c.id, c.owner_id, c.at, l.id as looked_to_id, l.at as looked_to_at
from (select) as one
left join looked_to l on true
left join (select c.* from changed c order by c.at, c.id limit $5) c on l.at is null or (c.at, c.id) <= (l.at, l.id)
order by c.at, c.id
