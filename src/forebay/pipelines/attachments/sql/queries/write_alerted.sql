-- Somebody was told that files of instance $1 have failed.
update forebay.attachment_instance set alerted_at = clock_timestamp() where id = $1
