-- Deletes what the migrator has recorded of part $1.
with routines as (delete from forebay.part_routine where part = $1),
     digest as (delete from forebay.part where name = $1)
delete from forebay.migration where part = $1
