-- Whether the database has the tables of the index.
select to_regclass('forebay.search_document') is not null
