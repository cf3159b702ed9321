-- What a crawl must know of bookmark $1, and whose it is.
select b.owner_id, o.name as owner, b.url, b.etag, b.last_modified
from forebay.bookmark b join forebay.owner o on o.id = b.owner_id
where b.id = $1
