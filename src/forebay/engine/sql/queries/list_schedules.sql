-- The schedules after name $1 that the caller may see, by name.
select s.name, p.name as pipeline, o.name as owner, s.cron, s.timezone, s.priority, s.paused, s.next_at, s.last_at, s.last_job_id,
       s.declared, s.overlap, s.jitter_s, s.backfill, s.input::text as input, j.state::text as last_state
from forebay.schedule s
join forebay.pipeline p on p.id = s.pipeline_id
join forebay.owner o on o.id = s.owner_id
left join forebay.job j on j.id = s.last_job_id
where s.name > $1 and ($2::bigint is null or s.owner_id = $2) and ($4::text is null or s.name = $4)
order by s.name
limit $3
