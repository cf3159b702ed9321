-- Which of the workers $1 are the dispatchers named $2, and have stopped or given no sign of life for $3 seconds.
select d.name
from unnest($1::bigint[], $2::text[]) d(id, name) join forebay.worker w on w.id = d.id and w.stats ->> 'dispatcher' = d.name
where w.stopped_at is not null or w.seen_at < coalesce($4, clock_timestamp()) - make_interval(secs => $3)
