-- How many bytes of a sheet's file have come: for workers of the previous release, until they are restarted.
create or replace function forebay.received(sheet_id bigint) returns bigint language sql stable as $$
select forebay.received_bytes('sheets', sheet_id)
$$;
