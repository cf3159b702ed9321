-- The number of tasks of articles by status, of owner $1 or of all.
select c.pending, c.processing, c.completed, c.failed from forebay.embedding_counts($1::bigint) c
