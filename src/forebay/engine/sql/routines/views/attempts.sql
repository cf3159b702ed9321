-- Attempts with the names of their pipeline, step and owner.
create or replace view forebay.attempts as
select a.job_id, a.n, p.name as pipeline, s.name as step, o.name as owner, a.attempt, a.outcome, a.class, a.reason,
       a.started_at, a.ended_at, a.ended_at - a.started_at as duration, w.name as worker, a.worker_id, a.token
from forebay.attempt a
join forebay.step s on s.id = a.step_id
join forebay.pipeline p on p.id = s.pipeline_id
join forebay.owner o on o.id = a.owner_id
left join forebay.worker w on w.id = a.worker_id;
select forebay.set_security_invoker('forebay.attempts');
