-- A page of a job's full items after number $2, and the start of the next page; only the latter if none has these statuses.
select f.next_after, i.n,
       case when i.status = 'PENDING' and exists (
           select from forebay.lease l where l.job_id = i.job_id and l.ns @> i.n) then 'PROCESSING' else i.status::text end as status,
       i.key, i.input::text as input, i.result::text as result, i.error::text as error
from forebay.find_items($1, $2, $3::forebay.item_status[], $4) f
left join lateral unnest(f.ns) k(n) on true
left join forebay.item i on i.job_id = $1 and i.n = k.n
order by i.n
