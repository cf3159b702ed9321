-- The newest jobs, optionally of one state, pipeline or owner; looked up one by one (offset 0) after the selection.
with wanted as materialized (
    select b.id from forebay.job b
    where (cast($1 as text) is null or cast(b.state as text) = $1)
      and (cast($2 as text) is null or b.pipeline_id = (select p.id from forebay.pipeline p where p.name = $2))
      and (cast($3 as text) is null or b.owner_id = (select o.id from forebay.owner o where o.name = $3))
      and (b.id = cast($4 as bigint) or cast($4 as bigint) is null and b.parent_id is null)  -- children are shown with their job
    order by b.id desc
    limit cast($5 as int)
)
select j.id, j.pipeline, j.owner, cast(j.state as text) as state, j.priority, j.key, j.total, j.done, j.skipped, j.not_found, j.error,
       j.created_at, j.started_at, j.finished_at, j.eta, j.heartbeat_at, cast(j.last_error as text) as last_error
from wanted w cross join lateral (select * from forebay.jobs v where v.id = w.id offset 0) j
order by j.id desc
