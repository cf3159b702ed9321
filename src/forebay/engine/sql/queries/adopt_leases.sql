-- Gives the leases $2 to worker $1, if their worker is a dispatcher that has stopped or has given no sign of life for $3 seconds,
-- and renews them for $4 seconds. Only those of the steps $6. Returns all of these leases that worker $1 has now.
with taken as (
    update forebay.lease l set worker_id = $1, expires_at = greatest(l.expires_at, coalesce($5, clock_timestamp()) + make_interval(secs => $4))
    from forebay.worker w
    where w.id = l.worker_id and l.token = any($2) and l.step_id = any($6)
      and (l.worker_id = $1
           or w.stats ? 'dispatcher'
              and (w.stopped_at is not null or w.seen_at < coalesce($5, clock_timestamp()) - make_interval(secs => $3)))
    returning l.token, l.step_id, l.lane_id, l.job_id, l.owner_id, l.attempt, lower(l.ns) as first_n, upper(l.ns) - 1 as last_n
)
select t.*, coalesce(j.version_id, -j.pipeline_id) as version_id from taken t join forebay.job j on j.id = t.job_id
