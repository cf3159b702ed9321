-- Jobs of owner $1 (null: all) by state: all open ones up to $2, and the ended ones among the newest $2. is_exact: these are all.
with open as materialized (
    (select j.state, 1 as one from forebay.job j where $1::bigint is not null and j.owner_id = $1 and j.finished_at is null limit $2::int)
    union all
    (select j.state, 1 from forebay.job j where $1 is null and j.finished_at is null limit $2)
),
newest as materialized (
    (select j.id, j.state, j.created_at, j.finished_at from forebay.job j where $1 is not null and j.owner_id = $1 order by j.id desc limit $2)
    union all
    (select j.id, j.state, j.created_at, j.finished_at from forebay.job j where $1 is null order by j.id desc limit $2)
),
counted as (
    select c.state, count(*) as jobs from (
        select o.state from open o union all select n.state from newest n where n.finished_at is not null) c
    group by c.state
),
looked as (
    select count(*) as looked_at, min(n.created_at) as looked_to, max(n.id) as last_id,
           count(*) < $2 and (select count(*) from open) < $2 as is_exact
    from newest n
)
select c.state::text as state, c.jobs, l.looked_at, l.looked_to, l.is_exact, l.last_id
from looked l left join counted c on true
