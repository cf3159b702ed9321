-- Marks a worker process as dead: its leases expire now. Returns the number of leases.
with lost as (
    update forebay.worker w set stopped_at = clock_timestamp()
    where w.name = cast($1 as text) and w.stopped_at is null
    returning w.id
),
held as (
    select h.token from forebay.lease h where h.worker_id in (select l.id from lost l) order by h.token for update skip locked
),
ended as (
    update forebay.lease l set expires_at = clock_timestamp() from held h where l.token = h.token returning 1
)
select count(*) from ended
