-- Submits one item as one job, in the caller's transaction; all that is text on the way is cast here, whatever the driver.
select s.job_id, s.created
from forebay.submit(
    forebay.traced(cast($1 as text), cast($10 as text)), cast(cast($2 as text) as jsonb), cast($3 as text), cast($4 as text),
    cast($5 as int), coalesce(cast($6 as timestamptz), clock_timestamp() + make_interval(secs => cast($7 as float8))),
    cast($8 as boolean), cast(cast($9 as text) as jsonb), max_wait => make_interval(secs => cast($11 as float8)),
    unique_states => cast(cast($12 as text[]) as forebay.job_state[]),
    unique_period => make_interval(secs => cast($13 as float8))) s
