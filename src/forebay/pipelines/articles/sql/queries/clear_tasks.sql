-- Deletes completed tasks, of owner $1 or of all, that ended before $2.
select forebay.clear_embedding_tasks($1::bigint, $2::timestamptz, $3::int)
