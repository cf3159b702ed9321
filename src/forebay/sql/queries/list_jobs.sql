-- The newest jobs, of one state, pipeline or owner if these are given.
select j.id, j.pipeline, j.owner, cast(j.state as text) as state, j.priority, j.key, j.total, j.done, j.skipped, j.not_found, j.error,
       j.created_at, j.started_at, j.finished_at
from forebay.jobs j
where (cast($1 as text) is null or cast(j.state as text) = $1)
  and (cast($2 as text) is null or j.pipeline = $2)
  and (cast($3 as text) is null or j.owner = $3)
  and (cast($4 as bigint) is null or j.id = $4)
order by j.id desc
limit cast($5 as int)
