-- The steps of version $1 of a pipeline, or those of all present versions with the queue $2, with the state of their queues.
select v.bit, v.step_id, v.name, p.name as pipeline, p.id as pipeline_id, v.needs, v.optional, v.after_all, v.max_attempts, q.name as queue,
       q.paused, q.parked, q.probe_at, q.updated_at
from forebay.version_step v
join forebay.pipeline_version n on n.id = v.version_id
join forebay.pipeline p on p.id = n.pipeline_id
join forebay.queue q on q.name = v.queue
where v.version_id = $1 or $1::int is null and v.version_id = p.version_id and v.queue = $2
order by p.name, v.place
