-- Deletes keys that have not been used for `idle`, at most max_rows of each table. Returns the number of deleted rows.
create or replace function forebay.tidy_limits(
    idle interval default '1 hour', max_rows int default 10000, now timestamptz default null
) returns int language plpgsql as $$
declare
    horizon timestamptz := coalesce(now, clock_timestamp()) - idle;
    gone int;
    deleted int := 0;
begin
    delete from forebay.rate_limit where ctid = any(array(
        select r.ctid from forebay.rate_limit r where r.next_at < horizon limit max_rows for update skip locked));
    get diagnostics gone = row_count;
    deleted := deleted + gone;
    delete from forebay.slot_limit where ctid = any(array(
        select s.ctid from forebay.slot_limit s where s.seen_at < horizon limit max_rows for update skip locked));
    get diagnostics gone = row_count;
    deleted := deleted + gone;
    -- Leases last seconds: one that expired before the horizon is unused.
    delete from forebay.slot_lease where ctid = any(array(
        select l.ctid from forebay.slot_lease l where l.expires_at < horizon limit max_rows for update skip locked));
    get diagnostics gone = row_count;
    return deleted + gone;
end $$;
