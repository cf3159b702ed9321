-- Pauses a job.
select forebay.pause($1, $2)
