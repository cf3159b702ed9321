-- Turns some unreferenced blobs into waste.
select looked_at, collected from forebay.collect_blobs($1, $2)
