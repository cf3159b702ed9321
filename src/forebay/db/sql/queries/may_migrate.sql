-- Whether this account owns the schema, or can create it.
select coalesce((select pg_has_role(n.nspowner, 'member') from pg_namespace n where n.nspname = 'forebay'), true)
