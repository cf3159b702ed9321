-- Renames the schema while a backup is read.
alter schema forebay rename to forebay_aside;
