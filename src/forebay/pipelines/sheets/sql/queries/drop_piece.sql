-- A piece of an upload that did not come whole.
delete from forebay.sheet_piece p where p.sheet_id = $1 and p.start = $2 and p.name = $3::uuid and p.size is null
