-- Deletes files of one owner; garbage collection deletes their contents, unless other files share them.
delete from forebay.file where id = any($1::bigint[]) and owner_id = $2
