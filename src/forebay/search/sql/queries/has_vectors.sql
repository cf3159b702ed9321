-- Whether vectors can be stored.
select to_regclass('forebay.search_chunk') is not null
