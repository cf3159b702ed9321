-- The number of items by pipeline, owner and status, with names instead of ids: see count_items.
create or replace view forebay.totals as
select p.name as pipeline, o.name as owner, c.pending, c.processing, c.done, c.skipped, c.not_found, c.error
from forebay.count_items() c
join forebay.pipeline p on p.id = c.pipeline_id
join forebay.owner o on o.id = c.owner_id;
select forebay.set_security_invoker('forebay.totals');
