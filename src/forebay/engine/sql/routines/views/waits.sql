-- Tasks that wait for a signal; until: when their time is up, null if they wait without a limit (which is ten years).
create or replace view forebay.waits as
select w.job_id, w.n, p.name as pipeline, (forebay.step_names(p.id, w.bit))[1] as step, o.name as owner, w.name as signal, w.key,
       case when w.expires_at < clock_timestamp() + interval '9 years' then w.expires_at end as until
from forebay.waiting w
join forebay.job j on j.id = w.job_id
join forebay.pipeline p on p.id = j.pipeline_id
join forebay.owner o on o.id = w.owner_id
where w.signalled_at is null and w.expires_at > clock_timestamp();
select forebay.set_security_invoker('forebay.waits');
