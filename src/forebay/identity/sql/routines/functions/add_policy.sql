-- Adds a policy of row-level security to a table, unless it exists, and enables row-level security for the table.
-- definition: what follows the name in CREATE POLICY. Does nothing while the roles of the service are missing.
create or replace function forebay.add_policy(tab text, policy text, definition text) returns void language plpgsql as $$
begin
    if not forebay.has_roles() then
        return;
    end if;
    if not (select c.relrowsecurity from pg_class c where c.oid = format('forebay.%I', tab)::regclass) then
        execute format('alter table forebay.%I enable row level security', tab);
    end if;
    if not exists (select from pg_policies p where p.schemaname = 'forebay' and p.tablename = tab and p.policyname = policy) then
        execute format('create policy %I on forebay.%I ', policy, tab) || definition;
    end if;
end $$;
