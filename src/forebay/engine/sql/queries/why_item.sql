-- Item $2 of job $1.
select i.status::text as status, i.progress::text as progress from forebay.item i where i.job_id = $1 and i.n = $2
