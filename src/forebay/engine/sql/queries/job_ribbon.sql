-- The items of job $1 by status, in at most $2 slices of equal size of their numbers. At most $3 runs of each place are read, and if
-- more than $4 items failed, at most $4 / $2 of each slice: then the numbers are not exact. The statement sees one moment.
with job as materialized (
    select j.id, j.total, greatest(1, ceil(j.total / $2::float8))::int as size,
           case when j.skipped + j.not_found + j.error > $4 then $4 / $2 end as most
    from forebay.job j where j.id = $1
),
slice as materialized (
    select g as place, g * j.size + 1 as first_n, least((g + 1) * j.size, j.total) as last_n, j.most
    from job j cross join lateral generate_series(0, (j.total - 1) / j.size) g where j.total > 0
),
run as materialized (
    select r.* from forebay.job j cross join lateral forebay.open_runs(j, $3) r where j.id = $1 and r.last_n > 0
),
span as (  -- an item with several open tasks counts once
    select unnest(range_agg(int4range(r.first_n, r.last_n, '[]'))) as ns, false as is_leased from run r
    union all
    select unnest(range_agg(int4range(r.first_n, r.last_n, '[]'))), true from run r where r.place = 'leased'
),
part as (
    select g as place, s.is_leased,
           sum(least(upper(s.ns), (g + 1) * j.size + 1) - greatest(lower(s.ns), g * j.size + 1)) as items
    from job j cross join span s
    cross join lateral generate_series((lower(s.ns) - 1) / j.size, (upper(s.ns) - 2) / j.size) g
    group by g, s.is_leased
),
open as (
    select p.place, coalesce(sum(p.items) filter (where not p.is_leased), 0)::bigint as open_items,
           coalesce(sum(p.items) filter (where p.is_leased), 0)::bigint as processing
    from part p group by p.place
)
select s.first_n, s.last_n, coalesce(o.open_items - o.processing, 0) as pending, coalesce(o.processing, 0) as processing,
       greatest(0, s.last_n - s.first_n + 1 - coalesce(o.open_items, 0) - f.skipped - f.not_found - f.error) as done,
       f.skipped, f.not_found, f.error,
       f.items < coalesce(s.most, 2147483647) and not exists (
           select from run r group by replace(r.place, 'held', 'scheduled') having count(*) >= $3) as exact
from slice s
left join open o on o.place = s.place
cross join lateral (
    select count(*) as items, count(*) filter (where i.status = 'SKIPPED') as skipped,
           count(*) filter (where i.status = 'NOT_FOUND') as not_found, count(*) filter (where i.status = 'ERROR') as error
    from (select i.status from forebay.item i
          where i.job_id = $1 and i.n between s.first_n and s.last_n and i.verdict <> 'DONE'
                and i.status in ('SKIPPED', 'NOT_FOUND', 'ERROR')
          limit s.most) i) f
order by s.place
