-- Lists bookmarks with the columns of lists, in the order of the ids. The status comes from the item of the last job; if that
-- was deleted and there is no result, it is ERROR. Volatile, so that it sees rows that the same statement added.
create or replace function forebay.show_bookmarks(ids bigint[]) returns table (
    id bigint, owner_id bigint, url text, title text, description text, note text, tags text[], category_id bigint,
    site text, language text, kind text, kind_reason text, http_status int, published_at timestamptz, words int,
    reading_minutes real, caption text, image jsonb, screenshot_id bigint, full_page_id bigint, image_id bigint,
    favicon_id bigint, duplicate_of bigint, archived_at timestamptz, created_at timestamptz, updated_at timestamptz,
    crawled_at timestamptz, changed_at timestamptz, crawl_every double precision, next_crawl_at timestamptz,
    job_id bigint, status text, error jsonb, deleted_at timestamptz
) language sql volatile as $$
select b.id, b.owner_id, b.url, coalesce(b.own_title, b.title), b.description, b.note, b.tags, b.category_id, b.site, b.language,
       b.kind, b.kind_reason, b.http_status, b.published_at, b.words, b.reading_minutes, b.caption, b.image, b.screenshot_id,
       b.full_page_id, b.image_id, b.favicon_id, b.duplicate_of, b.archived_at, b.created_at, b.updated_at, b.crawled_at,
       b.changed_at, extract(epoch from b.crawl_every), b.next_crawl_at, b.job_id,
       forebay.bookmark_status(
           i.status, exists (select from forebay.lease l where l.job_id = b.job_id), b.crawled_at), i.error,
       b.deleted_at
from unnest(ids) with ordinality u(id, place)
join forebay.bookmark b on b.id = u.id
left join forebay.item i on i.job_id = b.job_id and i.n = 1
order by u.place
$$;
