-- The pieces of an upload are not needed any more; tells their names.
delete from forebay.sheet_piece p using forebay.sheet s
where s.id = p.sheet_id and s.id = $1 and s.file_id is not null
returning p.name::text
