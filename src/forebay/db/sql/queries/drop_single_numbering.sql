-- Deletes the rows of the single numbering.
delete from forebay.migration where part is null;
alter table forebay.migration alter column part set not null, add constraint migration_pkey primary key (part, version);
