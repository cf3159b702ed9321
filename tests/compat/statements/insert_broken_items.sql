-- Stores rows of a stream that are invalid inputs, as items in error.
insert into forebay.item (job_id, owner_id, pipeline_id, n, key, input, status, verdict, dead, error)
select j.id, j.owner_id, j.pipeline_id, r.n, r.key, cast(r.input as jsonb), 'ERROR', 'ERROR', j.steps,
       jsonb_build_object('class', 'data', 'reason', r.reason)
from forebay.job j
cross join unnest(cast($2 as int[]), cast($3 as text[]), cast($4 as text[]), cast($5 as text[])) as r(n, key, input, reason)
where j.id = cast($1 as bigint)
