-- Renames category $1.
update forebay.category set name = $2 where id = $1 returning id, name, created_at
