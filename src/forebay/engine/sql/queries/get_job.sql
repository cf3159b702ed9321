-- A job's state and counters, and whether it is over: a cancelled job may still have running tasks.
select j.id, o.name, p.name, cast(j.state as text), j.total, j.done, j.skipped, j.not_found, j.error,
       j.finished_at is not null
from forebay.job j
join forebay.owner o on o.id = j.owner_id
join forebay.pipeline p on p.id = j.pipeline_id
where j.id = cast($1 as bigint)
