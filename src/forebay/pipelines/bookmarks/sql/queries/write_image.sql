-- Writes the image of bookmark $1 of owner $2: file $3, its facts as JSON in $4. Removes the text and caption of another image.
update forebay.bookmark b set image_id = $3, image = $4::text::jsonb, ocr = null, caption = null, updated_at = clock_timestamp()
where b.id = $1 and b.owner_id = $2
