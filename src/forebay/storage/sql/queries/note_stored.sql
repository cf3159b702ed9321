-- Marks the object of a blob as complete; no row when the blob was collected meanwhile.
update forebay.blob b
set stored_at = coalesce(b.stored_at, $3, clock_timestamp()), touched_at = coalesce($3, clock_timestamp())
where b.sha256 = $1 and b.life = $2
returning true
