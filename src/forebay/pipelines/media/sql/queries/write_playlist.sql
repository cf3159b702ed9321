-- Notes that share $1 of owner $2 is a playlist, which has no file: its entries have.
update forebay.share s set kind = 'playlist', download_status = 'completed', download_completed_at = clock_timestamp(),
       transcript_status = 'skipped', updated_at = clock_timestamp()
where s.id = $1 and s.owner_id = $2
