-- Deletes up to $2 bookmarks for good that were deleted before $1; returns how many.
select forebay.purge_bookmarks($1::timestamptz, $2::int)
