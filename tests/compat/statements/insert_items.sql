-- Stores items from arrays, for drivers without access to COPY.
insert into forebay.item (job_id, owner_id, pipeline_id, n, key, input)
select cast($1 as bigint), cast($2 as bigint), cast($3 as int), r.n, r.key, cast(r.input as jsonb)
from unnest(cast($4 as int[]), cast($5 as text[]), cast($6 as text[])) as r(n, key, input)
