-- Moves bookmark $1 into the archive ($2 true) or out of it; returns whether that changed something.
update forebay.bookmark b
set archived_at = case when $2::boolean then clock_timestamp() end, updated_at = clock_timestamp()
where b.id = $1 and (b.archived_at is null) = $2::boolean
returning b.id
