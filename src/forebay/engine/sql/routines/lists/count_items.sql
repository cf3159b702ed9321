-- Exact number of items of all jobs by owner, pipeline and status, at one moment: ended items from the tallies, the others
-- from open jobs and leases. Restricted to what the caller may see, on every version of PostgreSQL.
create or replace function forebay.count_items()
returns table (owner_id bigint, pipeline_id int, pending bigint, processing bigint, done bigint, skipped bigint,
               not_found bigint, error bigint)
language sql stable set enable_seqscan = off set jit = off as $$
select c.owner_id, c.pipeline_id, (sum(c.open) - sum(c.held))::bigint, sum(c.held)::bigint, sum(c.done)::bigint,
       sum(c.skipped)::bigint, sum(c.not_found)::bigint, sum(c.error)::bigint
from (
    select t.owner_id, t.pipeline_id, 0 as open, 0 as held, t.done, t.skipped, t.not_found, t.error from forebay.tally t
    union all
    select j.owner_id, j.pipeline_id, j.total - j.done - j.skipped - j.not_found - j.error, 0, 0, 0, 0, 0
    from forebay.job j where j.finished_at is null
    union all
    select i.owner_id, i.pipeline_id, 0, 1, 0, 0, 0, 0
    from (
        select distinct l.job_id, n from forebay.lease l cross join lateral unnest(l.ns) r
        cross join lateral generate_series(lower(r), upper(r) - 1) n where n > 0) h
    join forebay.item i on i.job_id = h.job_id and i.n = h.n and i.status = 'PENDING'
) c
group by c.owner_id, c.pipeline_id
$$;
