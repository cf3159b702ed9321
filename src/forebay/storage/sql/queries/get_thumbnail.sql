-- Finds the thumbnail of file $1 that is at least $2 wide, or else the widest, and the location of its content.
select f.id, f.owner_id, f.name, f.media_type, f.created_at, b.sha256, b.life, b.size
from forebay.picture p
join forebay.file f on f.id = p.thumbnail_ids[coalesce(
    (select min(place) from generate_subscripts(p.widths, 1) place where p.widths[place] >= $2), cardinality(p.widths))]
join forebay.blob b on b.sha256 = f.sha256
where p.file_id = $1
