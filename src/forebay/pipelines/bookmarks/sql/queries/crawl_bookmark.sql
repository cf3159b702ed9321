-- Submits the work on bookmark $1 once more: for all steps, or for those in $3; $4 is where its icon is, if that is known.
select forebay.crawl_bookmark(b.owner_id, b.id, b.url, $2::int, coalesce(b.kind = 'image', false), $4::text, null, $3::text[])
from forebay.bookmark b where b.id = $1
