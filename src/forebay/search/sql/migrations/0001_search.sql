-- One index over the texts of all pipelines: documents, which of them each model has embedded, words, and saved searches.

-- The configuration that texts of a language are searched with: English if it is not known; a language that PostgreSQL has no
-- words for is taken as it is.
create function forebay.document_config(language text) returns regconfig language sql immutable parallel safe as $$
select case left(lower(language), 2)
    when 'en' then 'pg_catalog.english'::regconfig when 'de' then 'pg_catalog.german'::regconfig
    when 'fr' then 'pg_catalog.french'::regconfig when 'es' then 'pg_catalog.spanish'::regconfig
    when 'it' then 'pg_catalog.italian'::regconfig when 'pt' then 'pg_catalog.portuguese'::regconfig
    when 'nl' then 'pg_catalog.dutch'::regconfig when 'ru' then 'pg_catalog.russian'::regconfig
    when 'sv' then 'pg_catalog.swedish'::regconfig when 'da' then 'pg_catalog.danish'::regconfig
    when 'no' then 'pg_catalog.norwegian'::regconfig when 'fi' then 'pg_catalog.finnish'::regconfig
    else case when language is null then 'pg_catalog.english'::regconfig else 'pg_catalog.simple'::regconfig end end
$$;

-- A vector holds a megabyte at most, so the text is cut.
create function forebay.document_words(language text, title text, tags text[], body text) returns tsvector
language sql immutable parallel safe as $$
select setweight(to_tsvector(forebay.document_config(language), left(title, 2000)), 'A')
    || setweight(to_tsvector(forebay.document_config(language), left(array_to_string(tags, ' '), 10000)), 'B')
    || setweight(to_tsvector(forebay.document_config(language), left(body, 200000)), 'C')
$$;

-- Created here and not with the routines, and kept when those are replaced.
comment on function forebay.document_config is 'stored columns are made by it';
comment on function forebay.document_words is 'stored columns are made by it';

create table forebay.search_document (
    id             bigint generated always as identity primary key,
    owner_id       bigint not null,
    kind           text not null check (length(kind) between 1 and 50),
    ref            text not null check (length(ref) between 1 and 200),  -- what the package calls it
    title          text not null,
    body           text not null,
    url            text,
    language       text,
    tags           text[] not null default '{}',
    written_at     timestamptz not null,         -- filters by date, and the order of equals
    marks          jsonb,                        -- [[offset in the body, second], …] of a recording
    details        jsonb,                        -- what a hit needs to be linked
    content_hash   bytea not null,               -- of title and body: what models embed
    version        bigint not null default 1,    -- of title and body
    source_version bigint,                       -- as the package counts: an older one is ignored
    embeds         boolean not null default true,
    updated_at     timestamptz not null default clock_timestamp(),
    search         tsvector generated always as (forebay.document_words(language, title, tags, body)) stored,
    unique (owner_id, kind, ref)
);
create index search_document_words on forebay.search_document using gin (search);
create index search_document_owner on forebay.search_document (owner_id, id);
create index search_document_newest on forebay.search_document (owner_id, written_at desc, id desc);

-- Models: one is active, and searched; one may be building, and becomes active when it has all documents.
create table forebay.search_model (
    id           int generated always as identity primary key,
    name         text not null unique,
    dimensions   int not null,
    state        text not null check (state in ('building', 'active', 'old')),
    job_id       bigint,                         -- the job that embeds what was there before
    created_at   timestamptz not null default clock_timestamp(),
    activated_at timestamptz
);
create unique index search_model_active on forebay.search_model (state) where state = 'active';
create unique index search_model_building on forebay.search_model (state) where state = 'building';

-- The version of a document that a model has embedded.
create table forebay.search_indexed (
    document_id bigint not null references forebay.search_document on delete cascade,
    model_id    int not null references forebay.search_model on delete cascade,
    owner_id    bigint not null,
    version     bigint not null,
    indexed_at  timestamptz not null default clock_timestamp(),
    primary key (document_id, model_id)
);
create index search_indexed_model on forebay.search_indexed (model_id);

-- Words that occur in documents, to correct typing errors with.
create table forebay.search_word (
    owner_id bigint not null,
    word     text not null,
    primary key (owner_id, word)
);
create extension if not exists pg_trgm schema public;
do $$ begin
    execute format('create index search_word_similar on forebay.search_word using gin (word %s.gin_trgm_ops)',
                   (select e.extnamespace::regnamespace::text from pg_extension e where e.extname = 'pg_trgm'));
end $$;

-- How far the documents of a kind that were there before have been added.
create table forebay.search_backfill (
    kind        text primary key,
    position    text,
    added       bigint not null default 0,
    finished_at timestamptz
);

create table forebay.saved_search (
    id         bigint generated always as identity primary key,
    owner_id   bigint not null,
    name       text not null check (length(name) between 1 and 200),
    question   jsonb not null,
    token_hash bytea unique,                     -- of the address of its feed; null: it has none
    created_at timestamptz not null default clock_timestamp(),
    unique (owner_id, name)
);
