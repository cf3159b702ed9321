-- Whether rows of job $1 are being processed, or have been.
select exists (select from forebay.lease l where l.job_id = $1) or exists (select from forebay.attempt a where a.job_id = $1)
