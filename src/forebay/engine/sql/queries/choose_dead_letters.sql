-- The items, by job, whose dead letters match $1 … $6 among $7 rows and whose status is among $8: at most $9 jobs. `left_out`: items
-- with another status. The row without a job says how many dead letters were read.
with d as materialized (
    select * from forebay.matching_dead_letters($1, $2, $3, $4, $5, $6, $7)
),
chosen as (
    select c.job_id, array_agg(c.n order by c.n) filter (where i.status::text = any($8::text[])) as ns,
           count(*) filter (where i.status::text <> all($8::text[])) as left_out
    from (select distinct d.job_id, d.n from d where d.fits) c
    join forebay.item i on i.job_id = c.job_id and i.n = c.n
    group by c.job_id
)
(select c.job_id, c.ns, c.left_out from chosen c order by c.ns is null, c.job_id limit $9)
union all
select null, null, count(*) from d
