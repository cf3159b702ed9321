-- Creates the roles of the service.
--   forebay_api       what the API does for one owner: sees and changes the rows of the owner in forebay.owner_id, none without
--   forebay_admin     what it does for administrators: all rows
--   forebay_identity  what it does to find out who is asking: accounts and their secrets' hashes, no work
--   forebay_worker    for workers that should not own the tables; they name the owner of what they write
-- An account that may not create roles can migrate, too; then the service says what to do, and everything else works.
do $$
declare
    role text;
begin
    foreach role in array array['forebay_api', 'forebay_admin', 'forebay_identity', 'forebay_worker'] loop
        if not exists (select from pg_roles where rolname = role) then
            begin
                execute format('create role %I nologin', role);
            exception
                when duplicate_object or unique_violation then null;  -- by someone else, at this moment
                when insufficient_privilege then
                    raise notice 'forebay: this account may not make the role %, which the API needs', role;
            end;
        end if;
    end loop;
end $$;
