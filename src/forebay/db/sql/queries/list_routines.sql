-- The existing functions, views and triggers, with their versions.
select type, identity, version from forebay.list_routines()
