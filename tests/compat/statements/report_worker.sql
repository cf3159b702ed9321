-- Writes the heartbeat and the status of worker $1; returns the parked queues.
update forebay.worker set
    stats = $2::jsonb, stale = $3, last_error = $6, seen_at = coalesce($4, clock_timestamp()),
    stopped_at = case when $5 then coalesce($4, clock_timestamp()) end
where id = $1
returning array(select q.name from forebay.queue q where q.parked is not null)
