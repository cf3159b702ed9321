-- The tasks of job $1 (item $2; null: all) that wait for a signal at the time $3, in order, at most $4; until is null if they
-- wait without a limit.
select w.n, (forebay.step_names(j.pipeline_id, w.bit))[1] as step, w.name as signal, w.key, nullif(w.expires_at, 'infinity') as until
from forebay.waiting w
join forebay.job j on j.id = w.job_id
join forebay.item i on i.job_id = w.job_id and i.n = w.n and i.status = 'PENDING'
where w.job_id = $1 and w.n between coalesce($2::int, 0) and coalesce($2::int, 2147483647)
  and w.name <> 'forebay.map' and w.signalled_at is null and w.expires_at > coalesce($3::timestamptz, clock_timestamp())
order by w.n, w.bit
limit $4
