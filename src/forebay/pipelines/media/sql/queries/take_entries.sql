-- Detaches entries $1 of owner $2 from the jobs that have ended without their files: the next job takes them.
update forebay.share s set job_id = null, download_status = 'pending', download_error = null
where s.id = any($1::bigint[]) and s.owner_id = $2
