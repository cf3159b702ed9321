-- Adds file $1 of owner $2, unless share $6 was deleted: nothing would delete the file.
insert into forebay.file (id, owner_id, sha256, name, media_type)
select $1, $2, $3, $4, $5
where exists (select from forebay.share s where s.id = $6 and s.owner_id = $2 for key share)
on conflict (id) do nothing
