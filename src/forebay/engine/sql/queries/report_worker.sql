-- Writes the heartbeat and the status of worker $1; returns the parked queues, and the workers that run some of its steps and
-- have reported lately, itself included.
update forebay.worker me set
    stats = $2::jsonb, stale = $3, last_error = $6, seen_at = coalesce($4, clock_timestamp()),
    stopped_at = case when $5 then coalesce($4, clock_timestamp()) end
where me.id = $1
returning array(select q.name from forebay.queue q where q.parked is not null),
          array(select w.id from forebay.worker w
                where w.id = me.id
                   or w.stopped_at is null and w.seen_at > coalesce($4, clock_timestamp()) - interval '30 seconds'
                      and w.steps && me.steps
                order by w.id)
