-- Writes the icon of bookmark $1 of owner $2.
update forebay.bookmark b set favicon_id = $3, updated_at = clock_timestamp() where b.id = $1 and b.owner_id = $2
