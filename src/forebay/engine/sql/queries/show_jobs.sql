-- The full rows of jobs $1; `at` is when each last changed, as in changed_jobs.
select j.id, j.owner_id, p.name as pipeline, o.name as owner, j.state::text as state, j.priority, j.key, j.sealed,
       j.meta::text as meta, j.total, j.done, j.skipped, j.not_found, j.error, host(j.ip) as ip, j.file,
       j.created_at, j.started_at, j.finished_at, j.updated_at, forebay.heartbeat_at(j) as heartbeat_at,
       forebay.eta_seconds(j) as eta_seconds, j.last_error::text as last_error, coalesce(j.finished_at, j.updated_at) as at,
       j.parent_id, forebay.children_of(j.id)::text as children
from unnest($1::bigint[]) with ordinality k(id, place)
cross join lateral (select j.* from forebay.job j where j.id = k.id limit 1) j
join forebay.pipeline p on p.id = j.pipeline_id
join forebay.owner o on o.id = j.owner_id
order by k.place
