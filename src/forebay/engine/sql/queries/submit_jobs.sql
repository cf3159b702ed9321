-- Submits each input as a job of its own, in the caller's transaction.
select s.job_ids, s.created
from forebay.submit_jobs(
    forebay.traced(cast($1 as text), cast($9 as text)), cast(cast($2 as text[]) as jsonb[]), cast($3 as text),
    cast($4 as text[]), cast($5 as int),
    coalesce(cast($6 as timestamptz), clock_timestamp() + make_interval(secs => cast($7 as float8))),
    cast(cast($8 as text) as jsonb),
    unique_states => cast(cast($10 as text[]) as forebay.job_state[]),
    unique_period => make_interval(secs => cast($11 as float8))) s
