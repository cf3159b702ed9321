-- Those of the tables, materialized views, sequences and types with names $1 that are there.
select 1 as rank, case c.relkind when 'm' then 'materialized view' when 'S' then 'sequence' else 'table' end as type,
       format('forebay.%I', c.relname) as identity, c.relname::text as name
from pg_class c
where c.relnamespace = cast('forebay' as regnamespace) and c.relname = any(cast($1 as text[]))
  and c.relkind in ('r', 'p', 'm', 'S') and not c.relispartition
union all
select 2, case t.typtype when 'd' then 'domain' else 'type' end, format('forebay.%I', t.typname), t.typname::text
from pg_type t left join pg_class c on c.oid = t.typrelid
where t.typnamespace = cast('forebay' as regnamespace) and t.typname = any(cast($1 as text[]))
  and (t.typtype in ('e', 'd', 'r') or c.relkind = 'c')
order by rank, name
