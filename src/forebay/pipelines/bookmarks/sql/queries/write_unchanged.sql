-- Records that a crawl of bookmark $1 of owner $2 found the page unchanged.
update forebay.bookmark b set
    crawled_at = clock_timestamp(), next_crawl_at = clock_timestamp() + b.crawl_every, kind_reason = null, http_status = 200
where b.id = $1 and b.owner_id = $2
