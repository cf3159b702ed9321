-- Submits a new job for bookmark $1: for all steps, or for those in $3; $4 is the URL of its icon, if known.
select forebay.crawl_bookmark(b.owner_id, b.id, b.url, $2::int, coalesce(b.kind = 'image', false), $4::text, null, $3::text[])
from forebay.bookmark b where b.id = $1 and b.deleted_at is null
