-- Creates a blob, or postpones its collection, before its content is stored.
select life, is_stored, file_id from forebay.touch_blob($1, $2, $3, $4)
