-- Allows only these roles of the service, and the owner of the schema, to call a function.
create or replace function forebay.permit_call(signature text, variadic roles text[]) returns void language plpgsql as $$
declare
    called regprocedure := 'forebay.' || signature;
begin
    execute format('revoke execute on function %s from public', called);
    if forebay.has_roles() then
        execute format('grant execute on function %s to ', called)
            || (select string_agg(quote_ident(r), ', ') from unnest(roles) r);
    end if;
end $$;
