-- Keeps a blob from being collected, making it if it is not there, before its content goes to the store.
select life, is_stored, file_id from forebay.touch_blob($1, $2, $3, $4)
