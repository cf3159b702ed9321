-- Deletes files of one owner; their contents go with the sweep, unless others have the same.
delete from forebay.file where id = any($1::bigint[]) and owner_id = $2
