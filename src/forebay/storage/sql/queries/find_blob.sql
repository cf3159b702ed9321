-- Finds a blob whose object is complete.
select sha256, life, size, media_type from forebay.blob where sha256 = $1 and stored_at is not null
