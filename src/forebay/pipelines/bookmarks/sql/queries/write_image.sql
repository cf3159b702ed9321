-- The picture that stands for bookmark $1 of owner $2: file $3, and what is known of it as JSON in $4. What was read in another goes.
update forebay.bookmark b set image_id = $3, image = $4::text::jsonb, ocr = null, caption = null, updated_at = clock_timestamp()
where b.id = $1 and b.owner_id = $2
