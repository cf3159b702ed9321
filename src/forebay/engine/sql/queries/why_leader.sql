-- Whether a worker holds the lock of the leader; the lock itself is not touched.
select exists (
    select from pg_locks l cross join (select hashtextextended('forebay.leader', 4662) as key) k
    where l.locktype = 'advisory' and l.granted and l.objsubid = 1
      and l.database = (select d.oid from pg_database d where d.datname = current_database())
      and l.classid = ((k.key >> 32) & 4294967295)::oid and l.objid = (k.key & 4294967295)::oid)
