-- Submits bookmark $1 of owner $2 again, if its page was read without a browser.
select forebay.crawl_bookmark(b.owner_id, b.id, b.url, only_steps => array['metadata', 'images', 'favicon', 'ocr', 'caption'])
from forebay.bookmark b where b.id = $1 and b.owner_id = $2 and b.facts @> '{"unrendered": true}'
