-- The waiting and running tasks of each step, in the order of declaration.
select d.pipeline, d.step, d.queue, d.ready, d.scheduled, d.leased, d.on_hold, d.next_at, d.paused, d.parked,
       d.probe_at, d.oldest_at
from forebay.queue_depth d
order by d.pipeline, d.place
