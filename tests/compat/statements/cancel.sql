-- Cancels a job.
select forebay.cancel($1, $2)
