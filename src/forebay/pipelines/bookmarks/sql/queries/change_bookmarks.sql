-- Does $2 with the bookmarks $1: with the tags $3, the category $4, or the steps $5. Returns how many were changed.
select forebay.change_bookmarks($1::bigint[], $2::text, $3::text[], $4::bigint, $5::text[])
