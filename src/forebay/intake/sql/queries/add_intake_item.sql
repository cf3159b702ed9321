-- A file was received: it becomes the item of its job.
select forebay.add_intake_item($1, $2::jsonb)
