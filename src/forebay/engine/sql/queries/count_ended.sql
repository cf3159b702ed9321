-- Items of job $1 with one of the statuses $2, of the numbers $3 or all, by status: those that reprocess() would run again.
-- The job item (0) counts if it runs again alone: if no numbers are given and no other item runs again.
select cast(i.status as text) as status, count(*) as items
from forebay.item i
where i.job_id = cast($1 as bigint) and i.status = any(cast($2 as forebay.item_status[]))
  and case
      when i.n > 0 then cast($3 as int[]) is null or i.n = any($3)
      else cast($3 as int[]) is null and i.status <> 'DONE'
          and exists (select from forebay.job j where j.id = i.job_id and j.finished_at is not null)
          and not exists (select from forebay.item o where o.job_id = i.job_id and o.n > 0 and o.status = any($2))
      end
group by i.status
