-- Runs failed tasks again, of owner $1 or of all.
select forebay.retry_embeddings($1::bigint, $2::text)
