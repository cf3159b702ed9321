-- The leases of these tokens that dispatchers other than worker $2 have.
select l.token, l.step_id, l.lane_id, l.job_id, l.owner_id, l.attempt, lower(l.ns) as first_n, upper(l.ns) - 1 as last_n,
       coalesce(j.version_id, -j.pipeline_id) as version_id
from forebay.lease l join forebay.worker w on w.id = l.worker_id join forebay.job j on j.id = l.job_id
where l.token = any($1) and l.worker_id <> $2 and w.stats ? 'dispatcher'
