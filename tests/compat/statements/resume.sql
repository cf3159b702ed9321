-- Resumes a job.
select forebay.resume($1, $2)
