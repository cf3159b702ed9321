-- File $1, with the time of its next try if it waits for one.
select a.id, a.instance_id, a.name, a.status, a.attempts, a.error, a.size, encode(a.sha256, 'hex') as sha256, a.media_type,
       a.file_id, a.job_id, a.n, a.created_at, a.last_attempt_at, a.downloaded_at, a.removed_at,
       case when a.status = 'PENDING' then (
           select nullif(min(r.run_at), 'infinity') from forebay.scheduled r
           where r.job_id = a.job_id and r.first_n <= a.n and r.last_n >= a.n) end as next_retry_at
from forebay.attachment a
where a.id = $1
