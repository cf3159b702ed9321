-- A sheet whose file is read again with other options is replaced by another: the job of that one.

alter table forebay.sheet add column replaced_by bigint;
