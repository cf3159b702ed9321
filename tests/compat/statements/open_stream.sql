-- Opens a job for a stream, or finds the job with this key. The join does not see a new job.
select o.job_id, o.created, o.owner_id, o.pipeline_id, o.total, o.loaded, coalesce(j.sealed, false)
from forebay.open_job(
    forebay.traced(cast($1 as text), cast($6 as text)), cast($2 as text), cast($3 as text), cast($4 as int), 0, false,
    cast(cast($5 as text) as jsonb), null) o
left join forebay.job j on j.id = o.job_id
