-- One item, with all its data.
select i.job_id, i.n, p.name as pipeline, o.name as owner,
       case when i.status = 'PENDING' and exists (
           select from forebay.lease l where l.job_id = i.job_id and l.ns @> i.n) then 'PROCESSING' else i.status::text end as status,
       i.created_at, i.updated_at, i.key, i.input::text as input, i.normalized::text as normalized,
       i.result::text as result, i.error::text as error, i.progress::text as progress,
       forebay.children_of(i.job_id, i.n)::text as children
from forebay.item i
join forebay.pipeline p on p.id = i.pipeline_id
join forebay.owner o on o.id = i.owner_id
where i.job_id = $1 and i.n = $2
