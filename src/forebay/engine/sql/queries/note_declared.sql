-- Records that the code of pipeline $1 declares the schedules $2, and removes those that it no longer declares. Returns the names
-- of the removed ones.
with declared as (
    update forebay.schedule s set declared = true from forebay.pipeline p
    where p.id = s.pipeline_id and p.name = cast($1 as text) and s.name = any(cast($2 as text[])) and not s.declared
),
removed as (
    delete from forebay.schedule s using forebay.pipeline p
    where p.id = s.pipeline_id and p.name = cast($1 as text) and s.declared and not s.name = any(cast($2 as text[]))
    returning s.name
)
select coalesce(array_agg(r.name order by r.name), '{}') from removed r
