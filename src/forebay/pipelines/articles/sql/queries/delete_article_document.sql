-- Deletes what the index still has of article $2 of owner $1, which was deleted.
select forebay.delete_document($1, 'article', $2::bigint::text)
where not exists (select from forebay.article a where a.id = $2::bigint)
