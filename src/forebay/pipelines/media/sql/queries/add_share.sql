-- Adds a share of link $2 for owner $1, with title $3 and priority $4, and submits its job.
select a.id, a.job_id from forebay.add_share($1, $2, $3, $4, $5) a
