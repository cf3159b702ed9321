-- Grants rights on a table or view to roles of the service, and the use of the table's sequences.
-- rights: as in GRANT, such as 'select, insert (name, size)'. Does nothing while the roles of the service are missing.
create or replace function forebay.permit(rights text, tab text, variadic roles text[]) returns void language plpgsql as $$
declare
    relation regclass := format('forebay.%I', tab);
    numbers regclass;
begin
    if not forebay.has_roles() then
        return;
    end if;
    execute format('grant %s on %s to ', rights, relation)
        || (select string_agg(quote_ident(r), ', ') from unnest(roles) r);
    for numbers in
        select d.objid from pg_depend d join pg_class c on c.oid = d.objid and c.relkind = 'S'
        where d.classid = 'pg_class'::regclass and d.refclassid = 'pg_class'::regclass and d.refobjid = relation
          and d.deptype in ('a', 'i')
    loop
        execute format('grant usage on sequence %s to forebay_api, forebay_admin, forebay_identity, forebay_worker', numbers);
    end loop;
end $$;
