-- Opens a job whose items follow by COPY, or finds the job with this key.
select j.job_id, j.created, j.owner_id, j.pipeline_id, j.total, j.loaded, j.max_input_bytes
from forebay.open_job(
    forebay.traced(cast($1 as text), cast($8 as text)), cast($2 as text), cast($3 as text), cast($4 as int), cast($5 as int),
    cast($6 as boolean), cast(cast($7 as text) as jsonb), null,
    unique_states => cast(cast($9 as text[]) as forebay.job_state[]),
    unique_period => make_interval(secs => cast($10 as float8))) j
