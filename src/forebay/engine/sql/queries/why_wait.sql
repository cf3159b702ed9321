-- The signal for which item $2 of job $1 waits at the time $4 in the step with bit $3; until is null if it waits without a limit.
select w.name as signal, w.key, nullif(w.expires_at, 'infinity') as until from forebay.waiting w
where w.job_id = $1 and w.n = $2 and w.bit = $3 and w.signalled_at is null and w.expires_at > coalesce($4::timestamptz, clock_timestamp())
