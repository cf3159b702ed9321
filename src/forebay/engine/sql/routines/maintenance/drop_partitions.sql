-- Drops the partitions of attempt whose rows are all older than keep, and such rows of attempt_default. Returns the names.
create or replace function forebay.drop_partitions(now timestamptz default null, keep interval default '30 days')
returns text[] language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set timezone = 'UTC' as $$
declare
    horizon timestamptz := coalesce(now, clock_timestamp()) - keep;
    part text;
    dropped text[] := '{}';
begin
    perform pg_advisory_xact_lock(hashtextextended('forebay.partitions', 4662));
    for part in
        select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid
        where i.inhparent = 'forebay.attempt'::regclass and c.relname ~ '^attempt_\d{8}$'
          and to_date(right(c.relname, 8), 'YYYYMMDD') + 1 <= horizon
        order by 1
    loop
        begin
            execute format('drop table forebay.%I', part);
            dropped := dropped || part;
        exception when lock_not_available then
            raise warning 'forebay: % was not dropped, the table is in use; a later sweep will', part;
            exit;
        end;
    end loop;
    delete from forebay.attempt_default d where d.ended_at < horizon;
    return dropped;
end $$;
revoke execute on function forebay.drop_partitions(timestamptz, interval) from public;
