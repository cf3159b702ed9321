-- A file is whole, and kept.
with kept as (insert into forebay.sheet_file (file_id, sheet_id, owner_id) select $2, s.id, s.owner_id from forebay.sheet s where s.id = $1)
update forebay.sheet s set file_id = $2, size = $3, received_at = clock_timestamp() where s.id = $1
