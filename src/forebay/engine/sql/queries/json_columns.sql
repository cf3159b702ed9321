-- The columns of a table that hold JSON, directly or through a domain.
select a.attname
from pg_attribute a
join pg_type t on t.oid = a.atttypid
where a.attrelid = to_regclass($1)
  and a.attnum > 0
  and coalesce(nullif(t.typbasetype, 0), t.oid) in ('json'::regtype, 'jsonb'::regtype)
