-- The next page of a job's items, in order.
select i.n,
       case when i.status = 'PENDING' and exists (
           select from forebay.lease l where l.job_id = i.job_id and l.ns @> i.n) then 'PROCESSING'
            else cast(i.status as text) end,
       cast(i.input as text), cast(i.result as text), cast(i.error as text)
from forebay.item i
where i.job_id = cast($1 as bigint) and i.n > cast($2 as int)
order by i.n
limit cast($3 as int)
