-- The file of a sheet was received.
insert into forebay.sheet_file (file_id, sheet_id, owner_id) select $2, s.id, s.owner_id from forebay.sheet s where s.id = $1
