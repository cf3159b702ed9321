-- Says that worker $1 is alive, and what it does; answers the queues that are parked.
update forebay.worker set
    stats = $2::jsonb, stale = $3, last_error = $6, seen_at = coalesce($4, clock_timestamp()),
    stopped_at = case when $5 then coalesce($4, clock_timestamp()) end
where id = $1
returning array(select q.name from forebay.queue q where q.parked is not null)
