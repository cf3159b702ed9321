-- Adds an image of a sheet as a file of its owner.
with made as (
    insert into forebay.file (id, owner_id, sha256, name, media_type) select $2, s.owner_id, $3, $4, $5
    from forebay.sheet s where s.id = $1 returning id, owner_id)
insert into forebay.sheet_file (file_id, sheet_id, owner_id) select m.id, $1, m.owner_id from made m
