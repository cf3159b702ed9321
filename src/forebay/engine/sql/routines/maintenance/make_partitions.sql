-- Creates the daily partitions of attempt (attempt_YYYYMMDD, UTC) from today to days_ahead, and those of earlier days with
-- rows in attempt_default; the rows are moved. Returns the names of the new partitions. Waits at most 100 ms for a lock, because
-- others queue up behind it: the sweep calls it again for what is missing. Runs with the rights of the owner of the tables, because a
-- worker's account owns nothing.
create or replace function forebay.make_partitions(now timestamptz default null, days_ahead int default 3)
returns text[] language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '100ms' set timezone = 'UTC' as $$
declare
    today date := coalesce(now, clock_timestamp())::date;
    day date;
    part text;
    made text[] := '{}';
begin
    perform pg_advisory_xact_lock(hashtextextended('forebay.partitions', 4662));
    for day in
        select today + d from generate_series(0, days_ahead) d
        union
        select distinct d.ended_at::date from forebay.attempt_default d
        where isfinite(d.ended_at) and d.ended_at::date between '2000-01-01' and today
        order by 1
    loop
        part := 'attempt_' || to_char(day, 'YYYYMMDD');
        continue when to_regclass('forebay.' || part) is not null;
        begin
            -- Takes the strongest lock first: a session that reads attempt and then writes to it would deadlock with a lock upgrade.
            lock table forebay.attempt_default in access exclusive mode;
            execute format('create table forebay.%I (like forebay.attempt including defaults including indexes)', part);
            execute format(
                'with moved as (delete from forebay.attempt_default where ended_at >= %1$L and ended_at < %2$L returning *) '
                'insert into forebay.%3$I select * from moved', day::timestamptz, (day + 1)::timestamptz, part);
            execute format('alter table forebay.attempt attach partition forebay.%I for values from (%L) to (%L)',
                           part, day::timestamptz, (day + 1)::timestamptz);
            made := made || part;
        exception when lock_not_available then
            raise warning 'forebay: % was not made, the table is in use; the sweep tries again', part;
            return made;
        end;
    end loop;
    return made;
end $$;
revoke execute on function forebay.make_partitions(timestamptz, int) from public;
