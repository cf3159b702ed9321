-- An upload that was given up takes no more; 0 stands for a reading that never comes.
update forebay.sheet s set intake_job_id = 0, problem = 'the upload was given up' where s.id = $1 and s.intake_job_id is null
