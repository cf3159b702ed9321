-- Catalogues: products that rows are looked up in without any network. Their texts are compared by trigrams, for which
-- PostgreSQL brings an extension that the owner of a database may install. Where somebody has done so, it stays where it is.

create extension if not exists pg_trgm schema public;

create table forebay.catalogue (
    id         bigint generated always as identity primary key,
    owner_id   bigint not null,
    name       text not null check (length(name) between 1 and 100),
    shared     boolean not null default false,  -- an administrator lets everybody look things up in it
    created_at timestamptz not null default clock_timestamp(),
    unique (owner_id, name)
);
create index catalogue_shared on forebay.catalogue (id) where shared;

create table forebay.product (
    id           bigint generated always as identity primary key,
    catalogue_id bigint not null references forebay.catalogue on delete cascade,
    owner_id     bigint not null,
    key          text not null check (length(key) <= 200),  -- who loads a catalogue again changes what has the same
    gtin         text,              -- of 14 digits; as sku and mpn without what people write differently
    sku          text,
    mpn          text,
    text         text not null,     -- the words of brand and title, without case and accents
    search       tsvector not null, -- the same
    fields       jsonb not null,    -- as they are shown
    updated_at   timestamptz not null default clock_timestamp(),
    unique (catalogue_id, key)
);
create index product_gtin on forebay.product (gtin) where gtin is not null;
create index product_sku on forebay.product (sku) where sku is not null;
create index product_mpn on forebay.product (mpn) where mpn is not null;
-- Without a list of what is still to be sorted in: it would be read by every question.
create index product_search on forebay.product using gin (search) with (fastupdate = off);
do $$ begin
    execute format('create index product_text on forebay.product using gin (text %s.gin_trgm_ops) with (fastupdate = off)',
                   (select e.extnamespace::regnamespace::text from pg_extension e where e.extname = 'pg_trgm'));
end $$;
