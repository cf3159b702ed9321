-- The leases of these tokens, whoever has them.
select l.token, l.step_id, l.lane_id, l.job_id, l.owner_id, l.attempt, lower(l.ns) as first_n, upper(l.ns) - 1 as last_n,
       coalesce(j.version_id, -j.pipeline_id) as version_id
from forebay.lease l join forebay.job j on j.id = l.job_id where l.token = any($1)
