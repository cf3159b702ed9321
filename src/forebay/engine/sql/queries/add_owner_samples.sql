-- Adds samples of owners for the minute of $1, unless there are some, and deletes those that are older than an hour.
-- $2 to $6: one value for each owner.
with old as (
    delete from forebay.owner_sample o
    where o.minute < date_trunc('minute', coalesce($1::timestamptz, clock_timestamp())) - interval '1 hour'
)
insert into forebay.owner_sample (minute, owner_id, ready, running, attempts_per_s, fair_share)
select date_trunc('minute', coalesce($1::timestamptz, clock_timestamp())), g.owner_id, g.ready, g.running, g.attempts_per_s,
       g.fair_share
from unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::float8[], $6::float8[])
     as g (owner_id, ready, running, attempts_per_s, fair_share)
on conflict do nothing
