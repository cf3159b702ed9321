-- The oldest $2 jobs of bookmarks that wait to be worked on, of owner $1 or of all.
select forebay.waiting_bookmarks($1::bigint, $2::int) as ids
