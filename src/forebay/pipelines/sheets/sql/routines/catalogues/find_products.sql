-- Finds products by the words of brand and title: those with all words, or else, and if `fuzzy`, those with two of them, and
-- those with a similar spelling. Returns candidates, the most similar first; the caller scores them.
create or replace function forebay.find_products(owner_id bigint, words text[], fuzzy boolean, most int)
returns table (id bigint, catalogue text, fields jsonb) language plpgsql stable as $$
#variable_conflict use_column
declare
    visible bigint[] := forebay.catalogues_of(find_products.owner_id);
    asked text := array_to_string(words, ' ');
    every_word tsquery;
    two_words tsquery;
begin
    if cardinality(visible) = 0 or cardinality(words) = 0 then
        return;
    end if;
    select string_agg(quote_literal(replace(w, '\', '\\')), ' & ')::tsquery into every_word from unnest(words) w;
    return query
        select p.id, c.name, p.fields
        from (select p.id, p.catalogue_id, p.fields, p.text from forebay.product p
              where p.search @@ every_word and p.catalogue_id = any(visible) limit 10 * most) p
        join forebay.catalogue c on c.id = p.catalogue_id
        order by similarity(p.text, asked) desc, p.id limit most;
    if found and not fuzzy then
        return;
    end if;
    select string_agg(format('%s & %s', quote_literal(replace(a.w, '\', '\\')), quote_literal(replace(b.w, '\', '\\'))), ' | ')::tsquery
    into two_words
    from unnest(words[:6]) with ordinality a(w, n) join unnest(words[:6]) with ordinality b(w, n) on a.n < b.n;
    return query
        select p.id, c.name, p.fields
        from (
            (select p.id, p.catalogue_id, p.fields, p.text from forebay.product p
             where p.text % asked and p.catalogue_id = any(visible) order by similarity(p.text, asked) desc limit most)
            union
            (select p.id, p.catalogue_id, p.fields, p.text from forebay.product p
             where p.search @@ two_words and p.catalogue_id = any(visible) limit 10 * most)) p
        join forebay.catalogue c on c.id = p.catalogue_id
        order by similarity(p.text, asked) desc, p.id limit most;
end $$;

-- The operators of pg_trgm are found in its schema, independent of the caller's search_path.
do $$ begin
    execute format('alter function forebay.find_products(bigint, text[], boolean, int) set search_path = pg_catalog, %s',
                   (select e.extnamespace::regnamespace::text from pg_extension e where e.extname = 'pg_trgm'));
    alter function forebay.find_products(bigint, text[], boolean, int) set pg_trgm.similarity_threshold = 0.3;
end $$;
