-- Deletes deliveries from before $1 and old counts; submits jobs for instances whose newest delivery nobody has seen. Returns how many of both.
select deleted, submitted from forebay.tidy_attachments($1)
