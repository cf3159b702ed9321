-- What the steps that ran once for a job have returned, by name.
select cast(i.result as text) from forebay.item i where i.job_id = cast($1 as bigint) and i.n = 0
