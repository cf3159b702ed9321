-- Records why a crawl of bookmark $1 of owner $2 has not succeeded yet.
update forebay.bookmark b set kind_reason = $3::text, updated_at = clock_timestamp() where b.id = $1 and b.owner_id = $2
