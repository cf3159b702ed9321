-- Notes why the download of share $1 of owner $2 failed; $4: it is not tried again.
update forebay.share s set download_status = case when $4 then 'failed' else 'retry' end, download_error = $3,
       updated_at = clock_timestamp()
where s.id = $1 and s.owner_id = $2 and s.download_status <> 'completed'
