-- The totals of the store: blobs, those without a file, and waste.
select count(*) as blobs, coalesce(sum(b.size), 0)::bigint as bytes,
       count(*) filter (where not b.has_files) as loose_blobs,
       coalesce(sum(b.size) filter (where not b.has_files), 0)::bigint as loose_bytes,
       (select count(*) from forebay.waste) as waste,
       coalesce((select sum(w.size) from forebay.waste w), 0)::bigint as waste_bytes
from (select s.size, exists (select from forebay.file f where f.sha256 = s.sha256) as has_files from forebay.blob s) b
