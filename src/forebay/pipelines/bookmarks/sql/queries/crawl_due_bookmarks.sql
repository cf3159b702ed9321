-- Submits jobs for up to $1 bookmarks that are due; returns how many were checked.
select forebay.crawl_due_bookmarks($1::int, $2::timestamptz)
