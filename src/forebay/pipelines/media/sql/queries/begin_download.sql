-- Notes that an attempt to download share $1 of owner $2 begins.
update forebay.share set download_status = 'processing', download_attempts = download_attempts + 1,
       download_started_at = clock_timestamp(), updated_at = clock_timestamp()
where id = $1 and owner_id = $2
