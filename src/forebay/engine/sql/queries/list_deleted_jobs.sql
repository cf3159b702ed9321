-- Jobs that were deleted after $3, oldest first, of owners $1, or of all if $2: those of the next $4 batches. Batches of the same
-- time are read together, so that the next page begins after the last time.
select g.id, d.owner_id, d.at
from (
    select d.* from forebay.deleted_jobs d
    where d.at > $3::timestamptz and ($2::boolean or d.owner_id = any($1::bigint[]))
    order by d.at fetch first $4 rows with ties
) d
cross join lateral unnest(d.job_ids) g(id)
order by d.at, g.id
