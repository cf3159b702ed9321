-- Whether extension $1 is in this database, or this account may create it.
select exists (select from pg_extension e where e.extname = $1)
    or exists (
        select from pg_available_extension_versions v where v.name = $1 and (
            (select r.rolsuper from pg_roles r where r.rolname = current_user)
            or v.trusted and has_database_privilege(current_database(), 'create')))
