-- Queues all articles of owner $1 that need it, with priority $2, as actor $3; $4: also those that failed.
select r.job_id, r.created, r.items from forebay.reindex_articles($1, $2::int, $3::text, $4) r
