-- Jobs with names instead of ids. eta: the estimated end at the recent pace; heartbeat_at: the last activity.
create or replace view forebay.jobs as
select j.id, p.name as pipeline, o.name as owner, j.state, j.priority, j.key, j.total, j.done, j.skipped, j.not_found, j.error,
       j.total - e.ended as open,
       case when j.total = 0 then case when j.finished_at is null then 0 else 100 end
            else trunc(100.0 * e.ended / j.total, 1) end as percent,
       clock_timestamp() + make_interval(secs => forebay.eta_seconds(j)) as eta,
       j.sealed, j.meta, j.created_at, j.started_at, j.finished_at, j.updated_at,
       forebay.heartbeat_at(j) as heartbeat_at, j.last_error
from forebay.job j
cross join lateral (select j.done + j.skipped + j.not_found + j.error as ended) e
join forebay.pipeline p on p.id = j.pipeline_id
join forebay.owner o on o.id = j.owner_id;
select forebay.set_security_invoker('forebay.jobs');
