-- The results of a job's `after_all` steps, by name.
select cast(i.result as text) from forebay.item i where i.job_id = cast($1 as bigint) and i.n = 0
