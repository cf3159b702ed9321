-- Tasks of steps with an order, by key: the current one runs next, runs, or holds the others back; the others wait for it.
create or replace view forebay.ordered_tasks as
select p.name as pipeline, (forebay.step_names(p.id, t.bit))[1] as step, o.name as owner, t.key, t.job_id, t.n, t.is_current
from forebay.ordered_task t
join forebay.pipeline p on p.id = t.pipeline_id
join forebay.owner o on o.id = t.owner_id;
select forebay.set_security_invoker('forebay.ordered_tasks');
