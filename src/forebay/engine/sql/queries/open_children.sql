-- Opens the job for the children of the task $2 of lease $1; no row if the worker does not hold the task.
select c.job_id, c.owner_id, c.pipeline_id from forebay.open_children($1, $2, $3, $4) c
