-- Submits the work on up to $1 bookmarks that are due by now, and says when each is due again.
with due as (
    select b.id, b.owner_id, b.url, b.kind, b.crawl_every from forebay.bookmark b
    where b.next_crawl_at <= coalesce($2::timestamptz, clock_timestamp()) and b.archived_at is null
    order by b.next_crawl_at limit $1 for update skip locked
), planned as (
    update forebay.bookmark b set next_crawl_at = coalesce($2::timestamptz, clock_timestamp()) + d.crawl_every
    from due d where b.id = d.id
    returning b.id
)
select count(forebay.crawl_bookmark(d.owner_id, d.id, d.url, -10, coalesce(d.kind = 'image', false))) as submitted from due d
