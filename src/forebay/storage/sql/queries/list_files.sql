-- Lists the files of owner $1 after id $2, without thumbnails, and the locations of their contents.
select f.id, f.owner_id, f.name, f.media_type, f.created_at, b.sha256, b.life, b.size
from forebay.file f join forebay.blob b on b.sha256 = f.sha256
where f.owner_id = $1::bigint and f.id > $2::bigint
  and not exists (select from forebay.picture p where p.thumbnail_ids @> array[f.id])
order by f.id limit $3::int
