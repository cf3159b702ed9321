-- An upload that was given up takes no more parts; 0 stands for a receiving job that never comes.
update forebay.intake_file f set intake_job_id = 0, problem = 'the upload was cancelled'
where f.target = $1 and f.reference = $2 and f.intake_job_id is null
