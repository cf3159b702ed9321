-- How the processes of the service log in: each login is a member of one role and of no other, owns nothing, and cannot make
-- anything. Whoever gets to run SQL of their own in the connection of a request cannot change to another role then.

-- Makes the login, or sets its password anew. For who may make roles.
create or replace function forebay.make_login(login text, role text, password text) returns void language plpgsql as $$
begin
    if not exists (select from pg_roles where rolname = login) then
        execute format('create role %I login', login);
    end if;
    execute format('alter role %I login nosuperuser nocreatedb nocreaterole noreplication nobypassrls password %L', login, password);
    execute format('grant %I to %I', role, login);
end $$;
