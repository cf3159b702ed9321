-- An attempt at file $1 has failed because of $2, and no other follows if $3; it was item $5 of job $4. $6: counted as an attempt.
update forebay.attachment a set status = case when $3 and a.status = 'PENDING' then 'FAILED' else a.status end, error = $2,
    attempts = a.attempts + $6::int, last_attempt_at = clock_timestamp(), job_id = $4, n = $5
where a.id = $1
