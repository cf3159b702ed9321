-- The partitions of attempt whose rows are all older than the horizon.
create or replace function forebay.old_partitions(horizon timestamptz) returns setof text
language sql stable set timezone = 'UTC' as $$
select c.relname::text from pg_catalog.pg_inherits i join pg_catalog.pg_class c on c.oid = i.inhrelid
where i.inhparent = 'forebay.attempt'::regclass and c.relname ~ '^attempt_\d{8}$'
  and to_date(right(c.relname, 8), 'YYYYMMDD') + 1 <= horizon
$$;
