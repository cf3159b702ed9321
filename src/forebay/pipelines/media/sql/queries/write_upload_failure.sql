-- Notes why the upload of job $1 was not received.
update forebay.share set download_status = 'failed', download_error = $2, updated_at = clock_timestamp() where job_id = $1
