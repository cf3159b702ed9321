-- Reads the page of bookmark $1 of owner $2 as the previous crawl found it.
select b.title, b.description, b.body, b.body_hash from forebay.bookmark b where b.id = $1 and b.owner_id = $2
