-- The input and the results of a task that were too large for its claim.
select i.input::text, forebay.returned(i.result, i.normalized)::text from forebay.item i where i.job_id = $1 and i.n = $2
