-- For a server that is all ours: nothing of the service makes temporary objects, and an account that can create them could hide other objects behind them.
do $$
declare
    login text;
begin
    execute format('revoke temporary on database %I from public', current_database());
    for login in select rolname from pg_roles where rolname ~ '^forebay_(api|identity|admin|worker)(_login)?$' loop
        execute format('revoke temporary on database %I from %I', current_database(), login);
    end loop;
end $$
