-- Marks workers as dead that have had no heartbeat for lost_after: their leases expire now. A worker that returns is alive
-- again. Deletes workers that stopped long ago. Returns the number of workers marked.
create or replace function forebay.close_workers(
    now timestamptz default null, lost_after interval default '5 minutes', forget_after interval default '30 days'
) returns int language plpgsql as $$
declare
    at timestamptz := coalesce(now, clock_timestamp());
    lost bigint[];
begin
    with closed as (
        update forebay.worker w set stopped_at = at
        where w.id = any(array(select v.id from forebay.worker v where v.stopped_at is null and v.seen_at < at - lost_after
                               for update skip locked))
        returning w.id)
    select array_agg(c.id) into lost from closed c;
    update forebay.lease l set expires_at = at
    where l.token = any(array(select h.token from forebay.lease h where h.worker_id = any(lost) and h.expires_at > at
                              order by h.token for update skip locked));
    delete from forebay.worker w where w.stopped_at < at - forget_after;
    return coalesce(cardinality(lost), 0);
end $$;
