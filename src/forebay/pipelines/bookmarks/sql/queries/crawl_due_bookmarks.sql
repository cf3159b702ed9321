-- Submits the work on up to $1 bookmarks that are due by now; answers how many were looked at.
select forebay.crawl_due_bookmarks($1::int, $2::timestamptz)
