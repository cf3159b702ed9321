-- Submits a short list of items as one job, in the caller's transaction; copy_items is for longer lists.
select s.job_id, s.created, s.items
from forebay.submit_many(
    forebay.traced(cast($1 as text), cast($10 as text)), cast(cast($2 as text[]) as jsonb[]), cast($3 as text),
    cast($4 as text), cast($5 as int),
    coalesce(cast($6 as timestamptz), clock_timestamp() + make_interval(secs => cast($7 as float8))),
    cast($8 as text[]), cast(cast($9 as text) as jsonb),
    unique_states => cast(cast($11 as text[]) as forebay.job_state[]),
    unique_period => make_interval(secs => cast($12 as float8))) s
