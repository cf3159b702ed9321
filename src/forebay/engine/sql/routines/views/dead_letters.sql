-- Tasks that failed permanently, with their errors.
create or replace view forebay.dead_letters as
select d.at, d.job_id, d.n, p.name as pipeline, s.name as step, o.name as owner, d.outcome, d.class, d.reason, d.attempt,
       i.key, i.input
from forebay.dead_letter d
join forebay.step s on s.id = d.step_id
join forebay.pipeline p on p.id = s.pipeline_id
join forebay.owner o on o.id = d.owner_id
left join forebay.item i on i.job_id = d.job_id and i.n = d.n;
select forebay.set_security_invoker('forebay.dead_letters');
