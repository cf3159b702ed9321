-- The functions, views and triggers that are there, with the version of each.
select type, identity, version from forebay.list_routines()
