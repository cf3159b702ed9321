-- Whether any owner has data: a row in any table with an owner_id, of any part. Rows that the first worker creates, and rows
-- that only refer to others, do not count.
create or replace function forebay.has_data() returns boolean language plpgsql stable as $$
declare
    tab regclass;
    is_filled boolean;
begin
    for tab in
        select c.oid from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'owner_id'
        where c.relnamespace = 'forebay'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
          and c.relname not in ('schedule', 'lane', 'audit', 'tally')
    loop
        execute format('select exists (select from %s)', tab) into is_filled;
        if is_filled then
            return true;
        end if;
    end loop;
    return false;
end $$;
