-- Records that part $1 is there, by a version 0: it has routines and no migration. Every role may read the versions.
insert into forebay.migration (part, version, name) values ($1, 0, 'routines only') on conflict do nothing
