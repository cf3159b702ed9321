-- The number of the items $2 of job $1, by status.
select i.status::text as status, count(*)::int as count
from forebay.item i where i.job_id = $1 and i.n = any($2::int[]) group by i.status
