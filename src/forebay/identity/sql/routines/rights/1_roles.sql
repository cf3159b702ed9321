-- Creates the roles of the service.
--   forebay_api       requests of one owner: reads and changes the rows of the owner in forebay.owner_id; none if it is unset
--   forebay_admin     requests of administrators: all rows
--   forebay_identity  authentication: accounts and the hashes of their secrets, no jobs
--   forebay_worker    workers that should not own the tables; they name the owner of the rows that they write
-- An account that may not create roles can migrate, too; then the service reports what to do, and the engine works.
do $$
declare
    role text;
begin
    foreach role in array array['forebay_api', 'forebay_admin', 'forebay_identity', 'forebay_worker'] loop
        if not exists (select from pg_roles where rolname = role) then
            begin
                execute format('create role %I nologin', role);
            exception
                when duplicate_object or unique_violation then null;  -- created concurrently
                when insufficient_privilege then
                    raise notice 'forebay: this account may not create the role %, which the API needs', role;
            end;
        end if;
    end loop;
end $$;
