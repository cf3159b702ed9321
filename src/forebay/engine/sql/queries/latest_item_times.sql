-- The mean time of a task of each step, from its newest sample since $1 that has one.
select distinct on (c.step_id) p.name as pipeline, s.name as step, cast(c.item_ms / 1000 as float8) as task_s
from forebay.controller_sample c
join forebay.step s on s.id = c.step_id
join forebay.pipeline p on p.id = s.pipeline_id
where c.minute >= $1::timestamptz and c.item_ms is not null
order by c.step_id, c.minute desc
