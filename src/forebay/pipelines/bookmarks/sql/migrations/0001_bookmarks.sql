-- Bookmarks: what people have saved, and what the steps of the pipeline have found out about it.
-- formerly 0009

create table forebay.category (
    id         bigint generated always as identity primary key,
    owner_id   bigint not null,
    name       text not null check (length(name) between 1 and 200),
    created_at timestamptz not null default clock_timestamp(),
    unique (owner_id, name)
);

-- The configuration that texts of a language are searched with; what PostgreSQL has no words for is taken as it is.
create function forebay.search_words(language text) returns regconfig language sql immutable parallel safe as $$
select case left(lower(language), 2)
    when 'en' then 'pg_catalog.english'::regconfig when 'de' then 'pg_catalog.german'::regconfig
    when 'fr' then 'pg_catalog.french'::regconfig when 'es' then 'pg_catalog.spanish'::regconfig
    when 'it' then 'pg_catalog.italian'::regconfig when 'pt' then 'pg_catalog.portuguese'::regconfig
    when 'nl' then 'pg_catalog.dutch'::regconfig when 'ru' then 'pg_catalog.russian'::regconfig
    when 'sv' then 'pg_catalog.swedish'::regconfig when 'da' then 'pg_catalog.danish'::regconfig
    else 'pg_catalog.simple'::regconfig end
$$;

create function forebay.joined(words text[]) returns text language sql immutable parallel safe as $$
select array_to_string(words, ' ')
$$;

-- What is searched of a bookmark, the best first: a vector holds a megabyte at most, so every part is cut.
create function forebay.searched(
    language text, title text, tags text[], site text, description text, note text, body text, ocr text
) returns tsvector language sql immutable parallel safe as $$
select setweight(to_tsvector(forebay.search_words(language), left(coalesce(title, ''), 2000)), 'A')
    || setweight(to_tsvector(forebay.search_words(language), left(forebay.joined(tags), 10000)), 'A')
    || setweight(to_tsvector(forebay.search_words(language), left(coalesce(site, ''), 500)), 'B')
    || setweight(to_tsvector(forebay.search_words(language), left(coalesce(description, ''), 10000)), 'B')
    || setweight(to_tsvector(forebay.search_words(language), left(coalesce(note, ''), 20000)), 'B')
    || setweight(to_tsvector(forebay.search_words(language), left(coalesce(body, ''), 120000)), 'C')
    || setweight(to_tsvector(forebay.search_words(language), left(coalesce(ocr, ''), 20000)), 'D')
$$;

-- Made here and not with the routines, and kept when those are made anew.
comment on function forebay.search_words is 'stored columns are made by it';
comment on function forebay.joined is 'stored columns are made by it';
comment on function forebay.searched is 'stored columns are made by it';

create table forebay.bookmark (
    id              bigint generated always as identity primary key,
    owner_id        bigint not null,
    url             text not null check (length(url) between 1 and 8192),
    page_hash       bytea not null,              -- of the URL without what makes no difference: one bookmark for each page
    created_at      timestamptz not null default clock_timestamp(),
    updated_at      timestamptz not null default clock_timestamp(),
    job_id          bigint,                      -- the last that has worked on it
    -- What its owner says.
    own_title       text check (length(own_title) <= 1000),
    note            text check (length(note) <= 100000),
    tags            text[] not null default '{}',
    category_id     bigint references forebay.category on delete set null,
    archived_at     timestamptz,
    crawl_every     interval check (crawl_every >= interval '1 hour'),
    next_crawl_at   timestamptz,
    -- What the steps have found.
    kind            text,                        -- page, pdf, image, file; login, captcha, error: not the page itself
    kind_reason     text,
    http_status     int,
    title           text,
    description     text,
    author          text,
    site            text,
    language        text,
    canonical_url   text,
    canonical_hash  bytea,
    duplicate_of    bigint references forebay.bookmark on delete set null,
    published_at    timestamptz,
    modified_at     timestamptz,
    body            text,
    words           int,
    reading_minutes real,
    facts           jsonb,                       -- OpenGraph, Twitter, JSON-LD, feeds
    body_hash       bytea,
    etag            text,
    last_modified   text,
    crawled_at      timestamptz,
    changed_at      timestamptz,
    screenshot_id   bigint,                      -- files, which go with it: see drop_bookmark_files
    full_page_id    bigint,
    image_id        bigint,
    favicon_id      bigint,
    image           jsonb,                       -- width, height, blurhash …
    ocr             text,
    caption         text,
    search          tsvector generated always as
        (forebay.searched(language, coalesce(own_title, title), tags, site, description, note, body, ocr)) stored,
    unique (owner_id, page_hash)
);
create index bookmark_newest on forebay.bookmark (owner_id, id) where archived_at is null;
create index bookmark_owner on forebay.bookmark (owner_id, id);
create index bookmark_kind on forebay.bookmark (owner_id, kind, id);
create index bookmark_category on forebay.bookmark (category_id, id) where category_id is not null;
create index bookmark_export on forebay.bookmark (owner_id, (coalesce(category_id, 0)), id);
create index bookmark_tags on forebay.bookmark using gin (tags);
create index bookmark_search on forebay.bookmark using gin (search);
create index bookmark_canonical on forebay.bookmark (owner_id, canonical_hash) where canonical_hash is not null;
create index bookmark_duplicates on forebay.bookmark (duplicate_of) where duplicate_of is not null;
create index bookmark_due on forebay.bookmark (next_crawl_at) where next_crawl_at is not null and archived_at is null;

-- What a new crawl has found to be different.
create table forebay.bookmark_change (
    bookmark_id bigint not null references forebay.bookmark on delete cascade,
    owner_id    bigint not null,
    at          timestamptz not null default clock_timestamp(),
    title       text,                            -- as they were before
    words       int,
    body_hash   bytea,
    primary key (bookmark_id, at)
);
