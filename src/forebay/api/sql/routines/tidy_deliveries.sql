-- Deletes the deliveries of webhooks that no longer need to be known, at most max_rows. Returns how many: repeat until 0.
create or replace function forebay.tidy_deliveries(now timestamptz default null, max_rows int default 10000)
returns bigint language plpgsql as $$
declare
    deleted bigint;
begin
    delete from forebay.webhook_delivery where ctid = any(array(
        select d.ctid from forebay.webhook_delivery d
        where d.kept_until < coalesce(now, clock_timestamp()) and d.kept_until < 'infinity' limit max_rows));
    get diagnostics deleted = row_count;
    return deleted;
end $$;
