-- Writes the caption of the image of bookmark $1 of owner $2.
update forebay.bookmark b set caption = left($3::text, 4000), updated_at = clock_timestamp() where b.id = $1 and b.owner_id = $2
