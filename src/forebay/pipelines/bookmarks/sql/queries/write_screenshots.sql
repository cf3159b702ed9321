-- Writes the screenshots of bookmark $1 of owner $2: $3 of the first screen, $4 of the full page; $5 are notes.
update forebay.bookmark b set
    screenshot_id = $3, full_page_id = $4, notes = forebay.with_notes(b.notes, 'screenshot', $5::text::jsonb),
    updated_at = clock_timestamp()
where b.id = $1 and b.owner_id = $2
