-- The workers that have not stopped, with their reported status.
select w.id, w.name, w.alive, w.in_flight, w.stuck, w.stale, w.started_at, w.seen_at, cast(w.stats as text) as stats
from forebay.workers w
where w.stopped_at is null
order by w.id
limit 500
