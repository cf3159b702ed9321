-- Deletes webhook deliveries that are older than 30 days, at most max_rows. Returns the number: repeat until 0.
create or replace function forebay.tidy_deliveries(now timestamptz default null, max_rows int default 10000)
returns bigint language plpgsql as $$
declare
    deleted bigint;
begin
    delete from forebay.webhook_delivery where ctid = any(array(
        select d.ctid from forebay.webhook_delivery d
        where d.received_at < coalesce(now, clock_timestamp()) - interval '30 days' limit max_rows));
    get diagnostics deleted = row_count;
    return deleted;
end $$;
