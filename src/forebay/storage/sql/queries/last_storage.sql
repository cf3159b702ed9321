-- The totals of the store, as last counted.
select t.blobs, t.bytes, t.loose_blobs, t.loose_bytes, t.waste, t.waste_bytes, t.counted_at from forebay.storage_total t
