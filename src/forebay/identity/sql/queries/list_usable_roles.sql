-- The roles among $1 that exist and may be used by this account; by the owner of the schema, if this is an account of one role.
select r.rolname
from pg_roles r, pg_namespace n
where r.rolname = any(cast($1 as text[])) and n.nspname = 'forebay' and pg_has_role(
    case when exists (select from pg_roles own where own.rolname = any(cast($1 as text[])) and pg_has_role(own.oid, 'member'))
         and not pg_has_role(n.nspowner, 'member') then n.nspowner else current_user::regrole::oid end,
    r.oid, 'member')
