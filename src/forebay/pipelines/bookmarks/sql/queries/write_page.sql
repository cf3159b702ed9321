-- Writes the result of a crawl of bookmark $1 of owner $2: $3 as JSON, the hashes $4 (of the text) and $5 (of the canonical URL).
-- Records a change since the previous crawl: $6 is the difference from the page that has the hash $7.
with found as (
    select * from jsonb_to_record($3::text::jsonb) as f(
        kind text, kind_reason text, http_status int, title text, description text, author text, site text, language text,
        canonical_url text, published_at timestamptz, modified_at timestamptz, body text, words int, reading_minutes real,
        facts jsonb, etag text, last_modified text, notes jsonb, blocks jsonb)
), before as (
    select b.title, b.words, b.body_hash from forebay.bookmark b where b.id = $1 and b.owner_id = $2 for no key update
), noted as (
    insert into forebay.bookmark_change (bookmark_id, owner_id, title, words, body_hash, difference)
    select $1, $2, b.title, b.words, b.body_hash, case when b.body_hash = $7::bytea then $6::text end
    from before b where b.body_hash is not null and b.body_hash <> $4
), forgotten as (
    delete from forebay.bookmark_change c
    where c.bookmark_id = $1 and c.at <= (
        select o.at from forebay.bookmark_change o where o.bookmark_id = $1 order by o.at desc offset 99 limit 1)
), repeated as (
    -- Later bookmarks that were crawled earlier.
    update forebay.bookmark d set duplicate_of = $1
    where d.owner_id = $2 and d.id > $1 and d.duplicate_of is null and (d.canonical_hash = $5 or d.page_hash = $5)
)
update forebay.bookmark b set
    kind = f.kind, kind_reason = f.kind_reason, http_status = f.http_status, title = f.title, description = f.description,
    author = f.author, site = f.site, language = f.language, canonical_url = f.canonical_url, canonical_hash = $5,
    published_at = f.published_at, modified_at = f.modified_at, body = f.body, blocks = f.blocks, words = f.words,
    reading_minutes = f.reading_minutes, notes = forebay.with_notes(b.notes, 'metadata', f.notes), facts = f.facts, etag = f.etag, last_modified = f.last_modified,
    duplicate_of = (
        select min(d.id) from forebay.bookmark d
        where d.owner_id = $2 and d.id < $1 and d.deleted_at is null and (d.page_hash = $5 or d.canonical_hash = $5)),
    changed_at = case when b.body_hash is distinct from $4 then clock_timestamp() else b.changed_at end,
    body_hash = $4,
    crawled_at = clock_timestamp(),
    next_crawl_at = clock_timestamp() + b.crawl_every,
    updated_at = clock_timestamp()
from found f, before
where b.id = $1 and b.owner_id = $2
