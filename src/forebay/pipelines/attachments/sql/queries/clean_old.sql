-- Removes up to $2 files that were downloaded before $1; returns how many.
select forebay.clean_attachments($1, $2)
