-- Which of the next $4 items of job $1 after number $2 have changed after $3; and the last number that was read.
select coalesce(array_agg(i.n order by i.n) filter (where i.updated_at > $3::timestamptz), '{}') as ns, max(i.n) as looked_to
from (
    select i.n, i.updated_at from forebay.item i where i.job_id = $1 and i.n > $2::int order by i.n limit $4
) i
