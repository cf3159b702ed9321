-- Declares the owners of shares and transcripts, and what the roles of the service may do with them.
select forebay.own('share', 'select, delete'), forebay.own('transcript', 'select, delete');

-- What workers find out about a share is theirs to write.
select forebay.permit(
    'insert (owner_id, url, priority, title, job_id, platform_data), '
    'update (job_id, item_n, priority, download_status, download_attempts, download_error, transcript_status, transcript_error, updated_at)',
    'share', 'forebay_api', 'forebay_admin');
