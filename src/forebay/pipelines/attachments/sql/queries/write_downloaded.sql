-- File $1 is downloaded: file $2 with size $3, hash $4 and type $5, by item $7 of job $6.
update forebay.attachment a set status = 'DOWNLOADED', file_id = $2, size = $3, sha256 = $4, media_type = $5, attempts = a.attempts + 1,
    error = null, last_attempt_at = clock_timestamp(), downloaded_at = clock_timestamp(), removed_at = null, job_id = $6, n = $7
where a.id = $1
