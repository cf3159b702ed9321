-- Writes the heartbeat and the status of worker $1; returns the parked queues, the workers that claim tasks of some of its steps
-- and have reported lately, itself included (for each set of steps, the workers that run it), and the time. Not among them are
-- those that are stopping, and slices, which declare no schedules: they claim from some lanes only.
update forebay.worker me set
    stats = $2::jsonb, stale = $3, last_error = $6, seen_at = coalesce($4, clock_timestamp()),
    stopped_at = case when $5 then coalesce($4, clock_timestamp()) end
where me.id = $1
returning array(select q.name from forebay.queue q where q.parked is not null),
          (select coalesce(json_agg(json_build_array(g.steps, g.ids) order by g.ids), '[]')
                from (select w.steps, array_agg(w.id order by w.id) as ids from forebay.worker w
                      where w.schedules is not null and w.stats -> 'draining' is distinct from 'true'
                        and (w.id = me.id
                             or w.stopped_at is null and w.seen_at > coalesce($4, clock_timestamp()) - interval '30 seconds'
                                and w.steps && me.steps)
                      group by w.steps) g),
          coalesce($4, clock_timestamp())
