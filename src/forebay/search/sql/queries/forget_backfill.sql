-- Begins anew with all kinds.
update forebay.search_backfill b set position = null, added = 0, finished_at = null
