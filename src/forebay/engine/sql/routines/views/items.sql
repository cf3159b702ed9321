-- Items with names instead of ids; an open item that a worker holds is PROCESSING. n = 0 is the job item.
create or replace view forebay.items as
select i.job_id, i.n, p.name as pipeline, o.name as owner,
       case when i.status = 'PENDING' and running.steps is not null then 'PROCESSING' else i.status end as status,
       running.steps as running, forebay.step_names(i.pipeline_id, i.done) as done,
       forebay.step_names(i.pipeline_id, i.dead & ~i.done) as dead,
       i.key, i.input, i.normalized, i.result, i.error, i.progress, i.created_at, i.updated_at
from forebay.item i
join forebay.pipeline p on p.id = i.pipeline_id
join forebay.owner o on o.id = i.owner_id
left join lateral (
    select array_agg(s.name order by s.bit) as steps
    from forebay.lease l join forebay.step s on s.id = l.step_id
    where i.status = 'PENDING' and l.job_id = i.job_id and l.ns @> i.n) running on true;
select forebay.set_security_invoker('forebay.items');
