-- Starts the separate numbering of each part's migrations. The rows of the single numbering have no part at first.
alter table forebay.migration drop constraint migration_pkey, add column part text;
insert into forebay.part_routine (type, identity, part) select r.type, r.identity, '' from forebay.list_routines() r;
comment on schema forebay is null;
