-- The pictures of bookmark $1 of owner $2: $3 of what one sees first, $4 of the whole page.
update forebay.bookmark b set screenshot_id = $3, full_page_id = $4, updated_at = clock_timestamp()
where b.id = $1 and b.owner_id = $2
