-- The waiting and running tasks of each step, in the order of declaration.
select d.pipeline, d.step, d.queue, d.ready, d.scheduled, d.leased, d.on_hold, d.next_at, d.paused, d.parked
from forebay.queue_depth d
join forebay.pipeline p on p.name = d.pipeline
join forebay.step s on s.pipeline_id = p.id and s.name = d.step
order by d.pipeline, s.bit
