-- Stores a product in a catalogue of an owner, which is created if needed; a product with the same key is replaced.
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
