-- Adds file $1 of owner $2, unless bookmark $6 was deleted: nothing would delete the file.
insert into forebay.file (id, owner_id, sha256, name, media_type)
select $1, $2, $3, $4, $5
where exists (select from forebay.bookmark b where b.id = $6 and b.owner_id = $2 for key share)
