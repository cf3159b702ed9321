-- Opens a job that items are streamed to, or finds the one that has this key. The join misses a job that is new.
select o.job_id, o.created, o.owner_id, o.pipeline_id, o.total, o.loaded, coalesce(j.sealed, false)
from forebay.open_job(
    forebay.traced(cast($1 as text), cast($6 as text)), cast($2 as text), cast($3 as text), cast($4 as int), 0, false,
    cast(cast($5 as text) as jsonb), null) o
left join forebay.job j on j.id = o.job_id
