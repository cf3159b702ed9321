-- Makes what the migrator keeps: the migrations and the routines of each part.
do $$ begin
    if to_regnamespace('forebay') is null then  -- CREATE SCHEMA IF NOT EXISTS needs the right to create it in any case
        create schema forebay;
    end if;
end $$;

create table if not exists forebay.migration (
    version    int not null,  -- 0: the part has routines only
    name       text not null,
    applied_at timestamptz not null default clock_timestamp(),
    part       text not null,
    primary key (part, version)
);

-- Whether releases that do not know it cannot work with the schema after it. A table of the single numbering is adopted first.
do $$ begin
    if (select array_agg(a.attname) @> '{part}' and not array_agg(a.attname) @> '{contracts}' from pg_attribute a
        where a.attrelid = 'forebay.migration'::regclass) then
        alter table forebay.migration add column contracts boolean not null default false;
    end if;
end $$;

create table if not exists forebay.part (
    name     text primary key,
    routines text not null  -- a digest of those that are there
);

-- Which part has made which function, view or trigger. Part '': all of them, before there were parts.
create table if not exists forebay.part_routine (
    type     text not null,
    identity text not null,
    part     text not null,
    primary key (type, identity)
);

-- The functions and views of the schema and the triggers that call its functions, in the order in which they can be dropped.
-- One that is replaced gets another version, which is its place in the catalogue.
create or replace function forebay.list_routines()
returns table (place bigint, type text, identity text, name text, version text) language sql stable as $$
select row_number() over (order by r.rank, r.oid desc), i.type, i.identity, r.name, r.oid || ' ' || r.version
from (
    select 1 as rank, 'pg_trigger'::regclass as catalogue, t.oid, t.tgname::text as name, t.ctid::text as version
    from pg_trigger t join pg_proc p on p.oid = t.tgfoid and p.pronamespace = 'forebay'::regnamespace
    where not t.tgisinternal and t.tgparentid = 0
    union all
    select 2, 'pg_class'::regclass, c.oid, c.relname, w.ctid::text
    from pg_class c join pg_rewrite w on w.ev_class = c.oid and w.rulename = '_RETURN'
    where c.relkind = 'v' and c.relnamespace = 'forebay'::regnamespace
    union all
    select 3, 'pg_proc'::regclass, p.oid, p.proname, p.ctid::text
    from pg_proc p
    where p.pronamespace = 'forebay'::regnamespace and p.proname <> 'list_routines'
      and coalesce(obj_description(p.oid, 'pg_proc'), '') <> 'stored columns are made by it'
      and not exists (select from pg_depend d where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e')
) r
cross join lateral pg_identify_object(r.catalogue, r.oid, 0) i
$$;
