-- Stores the status of the transcript of share $1 of owner $2.
update forebay.share set transcript_status = $3, transcript_error = $4, updated_at = clock_timestamp()
where id = $1 and owner_id = $2
