-- Items of all jobs that the caller may see, by pipeline and status, including pipelines without items.
select p.name as pipeline, coalesce(sum(c.pending), 0)::bigint as pending, coalesce(sum(c.processing), 0)::bigint as processing,
       coalesce(sum(c.done), 0)::bigint as done, coalesce(sum(c.skipped), 0)::bigint as skipped,
       coalesce(sum(c.not_found), 0)::bigint as not_found, coalesce(sum(c.error), 0)::bigint as error
from forebay.pipeline p left join forebay.count_items() c on c.pipeline_id = p.id
group by p.name order by p.name
