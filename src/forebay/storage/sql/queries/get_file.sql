-- Finds a file and the location of its content.
select f.id, f.owner_id, f.name, f.media_type, f.created_at, b.sha256, b.life, b.size
from forebay.file f join forebay.blob b on b.sha256 = f.sha256
where f.id = $1
