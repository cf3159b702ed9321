-- A file is whole, and stored.
update forebay.intake_file f set file_id = $3, size = $4, problem = null, received_at = clock_timestamp()
where f.target = $1 and f.reference = $2
