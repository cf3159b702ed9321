-- What is outside of schema $1 and would be dropped with it: views, foreign keys, columns of its types and the like. The views
-- $2, which packages offer, are left out, with what is built upon them: restore lets them read the new schema.
with recursive own(classid, objid) as (
    select cast('pg_class'::regclass as oid), c.oid from pg_class c where c.relnamespace = to_regnamespace($1)
    union all
    select cast('pg_proc'::regclass as oid), p.oid from pg_proc p where p.pronamespace = to_regnamespace($1)
    union all
    select cast('pg_type'::regclass as oid), t.oid from pg_type t where t.typnamespace = to_regnamespace($1)
),
found(classid, objid) as (
    select o.classid, o.objid from own o
    union
    select x.classid, x.objid
    from found f
    join pg_depend d on d.refclassid = f.classid and d.refobjid = f.objid
    left join pg_rewrite r on d.classid = 'pg_rewrite'::regclass and r.oid = d.objid
    cross join lateral (
        select case when r.oid is null then d.classid else cast('pg_class'::regclass as oid) end as classid,
               coalesce(r.ev_class, d.objid) as objid) x
    where x.classid <> 'pg_class'::regclass or x.objid not in (
        select to_regclass(v.name) from unnest(cast($2 as text[])) v(name) where to_regclass(v.name) is not null)
)
select distinct i.type || ' ' || i.identity as name
from found f
cross join lateral pg_identify_object(f.classid, f.objid, 0) i
left join pg_constraint c on f.classid = 'pg_constraint'::regclass and c.oid = f.objid
left join pg_trigger g on f.classid = 'pg_trigger'::regclass and g.oid = f.objid
left join pg_attrdef a on f.classid = 'pg_attrdef'::regclass and a.oid = f.objid
left join pg_policy p on f.classid = 'pg_policy'::regclass and p.oid = f.objid
left join pg_type t on f.classid = 'pg_type'::regclass and t.oid = f.objid
left join pg_class k on k.oid = coalesce(nullif(c.conrelid, 0), g.tgrelid, a.adrelid, p.polrelid)
where coalesce(k.relnamespace, to_regnamespace(quote_ident(i.schema)), 0)
        not in (to_regnamespace($1), 'pg_toast'::regnamespace)
  and not coalesce(g.tgisinternal, false)  -- of a foreign key, which is named
  and coalesce(t.typrelid, 0) = 0 and coalesce(t.typcategory, '') <> 'A'  -- of a table or type, which is named
order by name
