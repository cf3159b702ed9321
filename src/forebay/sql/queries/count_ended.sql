-- Items of job $1 with one of the statuses $2, of the numbers $3 or all, by status.
select cast(i.status as text) as status, count(*) as items
from forebay.item i
where i.job_id = cast($1 as bigint) and i.n > 0 and i.status = any(cast($2 as forebay.item_status[]))
  and (cast($3 as int[]) is null or i.n = any($3))
group by i.status
