-- Lists blobs after $1 that files refer to, with some of those files.
select b.sha256, b.life, b.size, b.stored_at is not null as is_stored,
       array(select f.id from forebay.file f where f.sha256 = b.sha256 order by f.id limit 20) as file_ids
from forebay.blob b
where b.sha256 > $1 and exists (select from forebay.file f where f.sha256 = b.sha256)
order by b.sha256
limit $2
