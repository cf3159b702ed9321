-- A crawl of bookmark $1 of owner $2 has met something else than the page: $3 says what, $4 why, $5 is the HTTP status. What
-- an earlier crawl has found stays; of what only the browser ($6) has met, nothing is said then.
update forebay.bookmark b set
    kind = case when b.body_hash is null then $3::text else b.kind end,
    kind_reason = $4::text, http_status = $5::int, crawled_at = clock_timestamp(),
    next_crawl_at = clock_timestamp() + b.crawl_every, updated_at = clock_timestamp()
where b.id = $1 and b.owner_id = $2 and not ($6::boolean and b.body_hash is not null)
