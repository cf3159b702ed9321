-- Creates the login, or sets a new password and removes excess rights. The caller must be able to create roles. Attributes
-- that the login lacks are not named, because only superusers may name all of them, even to remove them.
-- A login is a member of only one role, owns nothing, and cannot create anything: SQL injected into the connection of a
-- request cannot switch to another role.
create or replace function forebay.make_login(login text, role text, password text) returns void language plpgsql as $$
declare
    excess text;
    other record;
begin
    if not exists (select from pg_roles where rolname = login) then
        execute format('create role %I login', login);
    end if;
    select string_agg(a.taken, ' ') into excess
    from pg_roles r cross join lateral (values
        ('nosuperuser', r.rolsuper), ('nocreatedb', r.rolcreatedb), ('nocreaterole', r.rolcreaterole),
        ('noreplication', r.rolreplication), ('nobypassrls', r.rolbypassrls)) a(taken, has)
    where r.rolname = login and a.has;
    execute format('alter role %I login %s password %L', login, coalesce(excess, ''), password);
    for other in
        select m.roleid::regrole as role, g.rolname as grantor
        from pg_auth_members m left join pg_roles g on g.oid = m.grantor
        where m.member = to_regrole(quote_ident(login))
          and (m.roleid <> to_regrole(quote_ident(make_login.role)) or m.admin_option)
    loop
        -- Since PostgreSQL 16 each grantor's grant is one of its own, and REVOKE takes back only the caller's.
        execute format('revoke %s from %I', other.role, login)
            || case when current_setting('server_version_num')::int >= 160000 then format(' granted by %I', other.grantor) else '' end;
    end loop;
    execute format('grant %I to %I', role, login);
end $$;
