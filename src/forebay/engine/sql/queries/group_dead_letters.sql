-- The dead letters that match $1 … $6 among $7 rows, in groups by step ($8), class ($9) and masked reason ($10), and by hour before
-- $11 (the oldest: 23). The row with no pipeline says how many were read, and how far back.
with d as materialized (
    select * from forebay.matching_dead_letters($1, $2, $3, $4, $5, $6, $7)
)
select d.pipeline, case when $8 then d.step end as step, case when $9 then d.class end as error_class,
       case when $10 then d.masked end as reason,
       least(greatest(floor(extract(epoch from $11 - d.at) / 3600), 0), 24)::int as hour,
       count(*) as letters, min(d.at) as first_at, max(d.at) as last_at
from d where d.fits
group by 1, 2, 3, 4, 5
union all
select null, null, null, null, null, count(*), min(d.at), max(d.at) from d
