-- Why the file of a job is not received.
select f.problem from forebay.intake_file f where f.job_id = $1
