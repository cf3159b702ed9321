-- Notes that kind $1 was added up to $2; null: completely.
update forebay.search_backfill b set
    position = coalesce($2, b.position), added = b.added + 1, finished_at = case when $2::text is null then clock_timestamp() end
where b.kind = $1
