-- Turns some blobs that no file refers to any more into waste.
select looked_at, collected from forebay.collect_blobs($1, $2)
