-- Lists tables with owners that row-level security does not protect: see forebay.own.
select c.relname
from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'owner_id' and not a.attisdropped
where c.relnamespace = 'forebay'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
  and not (c.relrowsecurity and exists (select from pg_policy p where p.polrelid = c.oid))
order by 1
