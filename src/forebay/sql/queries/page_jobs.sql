-- Jobs, newest first, before id $1 (null: from the newest); filters may be null: owner, pipeline, state, since, until, one id.
select j.id, p.name as pipeline, o.name as owner, j.state::text as state, j.priority, j.key, j.sealed, j.meta::text as meta,
       j.total, j.done, j.skipped, j.not_found, j.error, host(j.ip) as ip, j.file,
       j.created_at, j.started_at, j.finished_at, j.updated_at
from forebay.job j
join forebay.pipeline p on p.id = j.pipeline_id
join forebay.owner o on o.id = j.owner_id
where ($1::bigint is null or j.id < $1) and ($2::bigint is null or j.owner_id = $2) and ($3::text is null or p.name = $3)
  and ($4::forebay.job_state is null or j.state = $4)
  and ($5::timestamptz is null or j.created_at >= $5) and ($6::timestamptz is null or j.created_at < $6)
  and ($8::bigint is null or j.id = $8)
order by j.id desc
limit $7
