-- Catalogues: products put into them, and found again.

-- Puts a product into a catalogue of an owner's, which is made with its first; one with the same key is changed.
create or replace function forebay.put_product(
    owner_id bigint, catalogue text, key text, gtin text, sku text, mpn text, words text[], fields jsonb,
    job_id bigint default 0, n int default 0
) returns void language plpgsql as $$
#variable_conflict use_column
declare
    into_id bigint;
begin
    select c.id into into_id from forebay.catalogue c where c.owner_id = put_product.owner_id and c.name = put_product.catalogue;
    if into_id is null then
        insert into forebay.catalogue as c (owner_id, name) values (put_product.owner_id, put_product.catalogue)
        on conflict (owner_id, name) do update set name = excluded.name
        returning c.id into into_id;
    end if;
    insert into forebay.product as p (catalogue_id, owner_id, key, gtin, sku, mpn, text, search, fields, job_id, n)
    values (into_id, put_product.owner_id, put_product.key, put_product.gtin, put_product.sku, put_product.mpn,
            array_to_string(words, ' '), array_to_tsvector(words), put_product.fields, put_product.job_id, put_product.n)
    on conflict (catalogue_id, key) do update
    set gtin = excluded.gtin, sku = excluded.sku, mpn = excluded.mpn, text = excluded.text, search = excluded.search,
        fields = excluded.fields, job_id = excluded.job_id, n = excluded.n, updated_at = clock_timestamp()
    where (p.job_id, p.n) <= (excluded.job_id, excluded.n);
end $$;

-- The catalogues in which the rows of an owner are looked up.
create or replace function forebay.catalogues_of(owner_id bigint) returns bigint[] language sql stable as $$
    select array(select c.id from forebay.catalogue c where c.owner_id = catalogues_of.owner_id
                 union select c.id from forebay.catalogue c where c.shared)
$$;

-- Products by the words of their brand and title: those that have all of them, or else, and if `fuzzy`, those that have two
-- of them, and those that are spelled alike. What comes back is a choice of candidates, the likest first; the caller judges.
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

-- The operators of pg_trgm are found wherever it is installed, whatever the caller's search_path says.
do $$ begin
    execute format('alter function forebay.find_products(bigint, text[], boolean, int) set search_path = pg_catalog, %s',
                   (select e.extnamespace::regnamespace::text from pg_extension e where e.extname = 'pg_trgm'));
    alter function forebay.find_products(bigint, text[], boolean, int) set pg_trgm.similarity_threshold = 0.3;
end $$;
