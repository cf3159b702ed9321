-- Deletes an article; returns the task that removes its vectors.
select forebay.delete_article($1::bigint, $2::int, $3::text)
