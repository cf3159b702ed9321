-- The reported progress of the running items of jobs $1, at most $2 per job.
select r.job_id, r.n, r.owner_id, p.name as pipeline, r.progress::text as progress
from unnest($1::bigint[]) k(job_id)
cross join lateral (
    select i.job_id, i.n, i.owner_id, i.pipeline_id, i.progress
    from forebay.lease l
    cross join lateral unnest(l.ns) span
    cross join lateral generate_series(lower(span), upper(span) - 1) g(n)
    cross join lateral (
        select i.* from forebay.item i where i.job_id = l.job_id and i.n = g.n and i.progress is not null limit 1) i
    where l.job_id = k.job_id limit $2) r
join forebay.pipeline p on p.id = r.pipeline_id
