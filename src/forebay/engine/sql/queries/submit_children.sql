-- Submits the jobs that a step has returned, in the transaction that settles it. $3: their owner; null: that of the task, $9.
select cardinality(s.job_ids)
from forebay.submit_jobs(
    $1, cast(cast($2 as text[]) as jsonb[]), coalesce($3, (select o.name from forebay.owner o where o.id = $9)),
    cast($4 as text[]), $5, coalesce($6, clock_timestamp() + make_interval(secs => $7)), cast(cast($8 as text) as jsonb),
    unique_states => cast(cast($10 as text[]) as forebay.job_state[]), unique_period => make_interval(secs => $11)) s
