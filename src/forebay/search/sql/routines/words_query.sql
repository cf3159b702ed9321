-- A query of all words, or of any of them.
create or replace function forebay.words_query(config regconfig, words text, "any" boolean) returns tsquery
language sql stable as $$
select case when "any"
    then replace(plainto_tsquery(config, words)::text, ' & ', ' | ')::tsquery
    else websearch_to_tsquery(config, words) end
$$;
