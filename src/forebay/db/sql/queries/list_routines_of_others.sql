-- The routines of parts other than $1, with a digest of their definitions: rights on them do not count.
with owned as (
    select o.part, r.type, r.identity, cast(split_part(r.version, ' ', 1) as oid) as oid
    from forebay.part_routine o join forebay.list_routines() r on (r.type, r.identity) = (o.type, o.identity)
    where o.part not in ('', $1)
)
select w.part, w.type, w.identity, md5(case w.type
    when 'trigger' then (select cast(t as text) from pg_trigger t where t.oid = w.oid)
    when 'view' then (select cast(v.ev_action as text) from pg_rewrite v where v.ev_class = w.oid and v.rulename = '_RETURN')
    else (select cast(row(p.oid, p.prosrc, p.prosqlbody, p.prolang, p.prorettype, p.proargnames, p.proargdefaults, p.provolatile,
                          p.prosecdef, p.proconfig) as text)
          from pg_proc p where p.oid = w.oid)
    end) as digest
from owned w
