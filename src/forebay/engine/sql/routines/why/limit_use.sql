-- How much of a limit is in use, as numbers: the slots that workers have leased, and when the next start that none has leased is.
-- Runs with the rights of the owner of the tables, because owners may not read what belongs to all of them.
create or replace function forebay.limit_use(
    limit_name text, limit_key text, now timestamptz default null, out in_use int, out next_at timestamptz
) language sql stable security definer set search_path = pg_catalog, pg_temp as $$
select (select coalesce(sum(l.slots), 0)::int from forebay.slot_lease l
        where l.name = limit_name and l.key = limit_key and l.expires_at > coalesce(limit_use.now, clock_timestamp())),
       (select r.next_at from forebay.rate_limit r where r.name = limit_name and r.key = limit_key)
$$;
revoke execute on function forebay.limit_use(text, text, timestamptz) from public;
