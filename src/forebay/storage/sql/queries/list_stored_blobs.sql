-- Complete blobs with hashes above $1, with and without files, in the order of their hashes.
select b.sha256, b.life, b.size, b.media_type from forebay.blob b
where b.sha256 > $1 and b.stored_at is not null
order by b.sha256 limit $2
