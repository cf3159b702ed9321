-- The delivery of time $2 is the newest that was taken into account for instance $1.
update forebay.attachment_instance set seen_at = $2, read_at = coalesce(read_at, clock_timestamp()), problem = null where id = $1
