-- What the account of this session could do beyond the role $1.
select session_user::text as name, r.rolsuper as is_superuser,
       exists (select from pg_namespace n where n.nspname = 'forebay' and pg_has_role(session_user, n.nspowner, 'member')) as owns_schema,
       array(
           select o.rolname::text from pg_roles o
           where o.rolname = any(cast($2 as text[])) and o.rolname <> $1 and pg_has_role(session_user, o.oid, 'member')
           order by 1) as others
from pg_roles r where r.rolname = session_user
