-- Finds bookmarks of the acting owner that match the filter $1, newest first or, with $2, oldest first, after id $3.
select m.ids, m.next_after from forebay.match_bookmarks($1::text::jsonb, $2::boolean, $3::bigint, $4::int) m
