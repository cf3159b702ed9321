-- What a task needs that was too large to come with its claim.
select i.input::text, forebay.returned(i.result, i.normalized)::text from forebay.item i where i.job_id = $1 and i.n = $2
