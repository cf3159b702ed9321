-- Records that a crawl of bookmark $1 of owner $2 did not reach the page: $3 is the kind, $4 the reason, $5 the HTTP status. The
-- result of an earlier crawl stays; then what only the browser saw ($6) is not recorded.
update forebay.bookmark b set
    kind = case when b.body_hash is null then $3::text else b.kind end,
    kind_reason = $4::text, http_status = $5::int, crawled_at = clock_timestamp(),
    next_crawl_at = clock_timestamp() + b.crawl_every, updated_at = clock_timestamp()
where b.id = $1 and b.owner_id = $2 and not ($6::boolean and b.body_hash is not null)
