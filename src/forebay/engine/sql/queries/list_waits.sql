-- The tasks of job $1 (item $2; null: all) that wait for a signal at the time $3, in order, at most $4. A wait without a limit
-- ends after ten years; its `until` is null.
select w.n, (forebay.step_names(j.pipeline_id, w.bit))[1] as step, w.name as signal, w.key,
       case when w.expires_at < c.at + interval '9 years' then w.expires_at end as until
from (select coalesce($3::timestamptz, clock_timestamp()) as at) c
cross join forebay.waiting w
join forebay.job j on j.id = w.job_id
where w.job_id = $1 and w.n between coalesce($2::int, 0) and coalesce($2::int, 2147483647)
  and w.signalled_at is null and w.expires_at > c.at
order by w.n, w.bit
limit $4
