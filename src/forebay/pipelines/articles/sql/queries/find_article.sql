-- The article of owner $1 with a file name.
select a.id from forebay.article a where a.owner_id = $1 and a.slug = $2
