-- The number of items by status, in the ranges $2 … $3 of the jobs $1, in parallel.
select i.status::text as status, count(*)::int as items
from unnest($1::bigint[], $2::int[], $3::int[]) k(job_id, first, last)
cross join lateral (
    select i.status from forebay.item i where i.job_id = k.job_id and i.n between k.first and k.last offset 0) i
group by i.status
