-- The samples of controllers since $1, the oldest first.
select c.minute, p.name as pipeline, s.name as step, c.running, c.concurrency, c.claim_size, c.item_ms, c.lease_s
from forebay.controller_sample c
join forebay.step s on s.id = c.step_id
join forebay.pipeline p on p.id = s.pipeline_id
where c.minute >= $1::timestamptz
order by c.minute, c.step_id
