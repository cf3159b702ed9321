-- The query, parsed for every language that bookmarks may have.
create or replace function forebay.search_question(question text) returns tsquery language sql stable as $$
select websearch_to_tsquery('pg_catalog.simple', question) || websearch_to_tsquery('pg_catalog.english', question)
    || websearch_to_tsquery('pg_catalog.german', question) || websearch_to_tsquery('pg_catalog.french', question)
    || websearch_to_tsquery('pg_catalog.spanish', question) || websearch_to_tsquery('pg_catalog.italian', question)
    || websearch_to_tsquery('pg_catalog.portuguese', question) || websearch_to_tsquery('pg_catalog.dutch', question)
    || websearch_to_tsquery('pg_catalog.russian', question) || websearch_to_tsquery('pg_catalog.swedish', question)
    || websearch_to_tsquery('pg_catalog.danish', question)
$$;
