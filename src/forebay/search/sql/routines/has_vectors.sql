-- Whether vectors can be stored: the extension `vector` was there at some migrate.
create or replace function forebay.has_vectors() returns boolean language sql stable as $$
select to_regclass('forebay.search_chunk') is not null
$$;
