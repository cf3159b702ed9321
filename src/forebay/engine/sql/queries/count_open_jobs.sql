-- The number of open jobs by pipeline and state, and the counts of their items.
select p.name as pipeline, j.state, j.jobs, j.pending, j.done, j.skipped, j.not_found, j.error
from (
    select j.pipeline_id, j.state::text as state, count(*) as jobs,
           sum(j.total - j.done - j.skipped - j.not_found - j.error)::bigint as pending, sum(j.done)::bigint as done,
           sum(j.skipped)::bigint as skipped, sum(j.not_found)::bigint as not_found, sum(j.error)::bigint as error
    from forebay.job j where j.finished_at is null group by j.pipeline_id, j.state
) j
join forebay.pipeline p on p.id = j.pipeline_id
order by p.name, j.state
