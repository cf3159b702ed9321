-- The rights on functions and views that were granted to others than their owner, as GRANT statements.
select i.type, i.identity, format('grant %s on %s %s to %s%s', a.privilege_type, case i.type when 'view' then 'table' else i.type end,
                                  i.identity, cast(a.grantee as regrole), case when a.is_grantable then ' with grant option' end) as statement
from (
    select cast('pg_proc' as regclass) as catalogue, p.oid, p.proacl as rights, p.proowner as owner
    from pg_proc p where p.pronamespace = cast('forebay' as regnamespace)
    union all
    select cast('pg_class' as regclass), c.oid, c.relacl, c.relowner
    from pg_class c where c.relnamespace = cast('forebay' as regnamespace) and c.relkind = 'v'
) o
cross join lateral pg_identify_object(o.catalogue, o.oid, 0) i
cross join lateral aclexplode(o.rights) a
where a.grantee not in (0, o.owner)
