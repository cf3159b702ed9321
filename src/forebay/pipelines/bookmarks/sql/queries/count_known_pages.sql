-- How many of the pages with the hashes $2 owner $1 has as bookmarks; those in the trash count as new, as an import restores them.
select count(*) from forebay.bookmark b where b.owner_id = $1 and b.page_hash = any($2::bytea[]) and b.deleted_at is null
