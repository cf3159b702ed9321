-- Opens the job of a file for a target without rows of its own; an own transaction says who asks.
select a.reference, a.job_id, a.created
from forebay.add_intake_file($1, $2::text[], $3, $4, $5, $6::jsonb, $7, $8, $9, $10, $11, $12::jsonb, $13) a
