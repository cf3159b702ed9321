-- Finds a bookmark with all columns.
select b.*, w.body, w.blocks, w.facts, w.ocr, w.canonical_url, w.etag, w.author, w.modified_at, w.notes
from forebay.show_bookmarks(array[$1::bigint]) b join forebay.bookmark w on w.id = b.id
