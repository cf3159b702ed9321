-- Tasks that wait for a signal; until: when their time is up, null if they wait without a limit.
create or replace view forebay.waits as
select w.job_id, w.n, p.name as pipeline, (forebay.step_names(p.id, w.bit))[1] as step, o.name as owner, w.name as signal, w.key,
       nullif(w.expires_at, 'infinity') as until
from forebay.waiting w
join forebay.job j on j.id = w.job_id
join forebay.item i on i.job_id = w.job_id and i.n = w.n and i.status = 'PENDING'
join forebay.pipeline p on p.id = j.pipeline_id
join forebay.owner o on o.id = w.owner_id
where w.name <> 'forebay.map' and w.signalled_at is null and w.expires_at > clock_timestamp();
select forebay.set_security_invoker('forebay.waits');
