-- Removes the oldest files of owners who keep more than $1 bytes, up to $2 files; returns how many.
select forebay.clean_attachments_over($1, $2)
