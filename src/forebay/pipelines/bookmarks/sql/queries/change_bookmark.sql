-- Changes those fields of bookmark $1 whose keys are in $2.
update forebay.bookmark b set
    own_title = case when c.given ? 'title' then c.given ->> 'title' else b.own_title end,
    note = case when c.given ? 'note' then c.given ->> 'note' else b.note end,
    tags = case when c.given ? 'tags' then array(select jsonb_array_elements_text(c.given -> 'tags')) else b.tags end,
    category_id = case when c.given ? 'categoryId' then (c.given ->> 'categoryId')::bigint else b.category_id end,
    crawl_every = case when c.given ? 'crawlEvery' then make_interval(secs => (c.given ->> 'crawlEvery')::float8) else b.crawl_every end,
    next_crawl_at = case when c.given ? 'crawlEvery'
        then coalesce(b.crawled_at, clock_timestamp()) + make_interval(secs => (c.given ->> 'crawlEvery')::float8)
        else b.next_crawl_at end,
    updated_at = clock_timestamp()
from (select $2::text::jsonb as given) c
where b.id = $1
  and (not c.given ? 'categoryId' or c.given ->> 'categoryId' is null
       or exists (select from forebay.category k where k.id = (c.given ->> 'categoryId')::bigint and k.owner_id = b.owner_id))
returning b.id
