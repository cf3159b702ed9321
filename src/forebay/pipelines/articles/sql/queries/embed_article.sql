-- Queues article $1 with priority $2.
select forebay.embed_article($1::bigint, $2::int)
