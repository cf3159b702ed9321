-- Drops the partitions of attempt whose rows are all older than keep, and such rows of attempt_default. Returns the names.
-- Waits at most 100 ms for the lock on attempt, because settles queue up behind it: the sweep calls it again for those that
-- old_partitions() still returns. (DETACH CONCURRENTLY is not possible beside a default partition.)
create or replace function forebay.drop_partitions(now timestamptz default null, keep interval default '30 days')
returns text[] language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '100ms' set timezone = 'UTC' as $$
declare
    horizon timestamptz := coalesce(now, clock_timestamp()) - keep;
    part text;
    dropped text[] := '{}';
begin
    perform pg_advisory_xact_lock(hashtextextended('forebay.partitions', 4662));
    for part in
        select p.name from forebay.old_partitions(horizon) p(name) order by 1
    loop
        begin
            execute format('drop table forebay.%I', part);
            dropped := dropped || part;
        exception when lock_not_available then
            raise warning 'forebay: % was not dropped, the table is in use; the sweep tries again', part;
            exit;
        end;
    end loop;
    delete from forebay.attempt_default d where d.ended_at < horizon;
    return dropped;
end $$;
revoke execute on function forebay.drop_partitions(timestamptz, interval) from public;
