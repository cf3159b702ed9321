-- Adds samples of controllers for the minute of $1, unless there are some, and deletes those that are older than an hour.
-- $2 to $8: one value for each step.
with old as (
    delete from forebay.controller_sample c
    where c.minute < date_trunc('minute', coalesce($1::timestamptz, clock_timestamp())) - interval '1 hour'
)
insert into forebay.controller_sample (minute, step_id, running, concurrency, claim_size, item_ms, lease_s)
select date_trunc('minute', coalesce($1::timestamptz, clock_timestamp())), s.id, g.running, g.concurrency, g.claim_size, g.item_ms,
       g.lease_s
from unnest($2::text[], $3::text[], $4::int[], $5::float8[], $6::float8[], $7::float8[], $8::float8[])
     as g (pipeline, step, running, concurrency, claim_size, item_ms, lease_s)
join forebay.pipeline p on p.name = g.pipeline
join forebay.step s on s.pipeline_id = p.id and s.name = g.step
on conflict do nothing
