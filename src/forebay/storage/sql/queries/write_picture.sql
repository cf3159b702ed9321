-- Adds what is known of file $1 of owner $2, a picture, if the file exists: its size $3 x $4 and blurhash $5; and its thumbnails with
-- the widths $6, as files with the ids $7 and contents $8.
with thumbnails as (
    insert into forebay.file (id, owner_id, sha256, name, media_type)
    select t.id, $2, t.sha256, 'thumbnail.webp', 'image/webp'
    from unnest($7::bigint[], $8::bytea[]) t(id, sha256)
    where exists (select from forebay.file f where f.id = $1)
)
insert into forebay.picture (file_id, owner_id, width, height, blurhash, widths, thumbnail_ids)
select f.id, $2, $3, $4, $5, $6::int[], $7::bigint[] from forebay.file f where f.id = $1
