-- The workers that have not stopped, at the time $1. alive: it has given a sign of life lately.
select w.id, w.name, w.seen_at, w.steps, v.stuck,
       w.seen_at > coalesce($1::timestamptz, clock_timestamp()) - interval '1 minute' as alive,
       (w.stats -> 'steps')::text as stats, (w.stats -> 'machine')::text as machine, coalesce((w.stats ->> 'held_s')::float8, 0) as held_s
from forebay.worker w join forebay.workers v on v.id = w.id
where w.stopped_at is null
order by w.id
limit 500
