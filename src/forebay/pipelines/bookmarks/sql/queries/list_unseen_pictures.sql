-- Screenshots, images and icons of which nothing is known, of the $2 bookmarks after $1; and the last bookmark that was looked at,
-- null at the end.
with looked_at as (
    select b.id, b.screenshot_id, b.image_id, b.favicon_id from forebay.bookmark b where b.id > $1 order by b.id limit $2::int
)
select f.id as file_id, f.owner_id, encode(f.sha256, 'hex') as sha256, l.id as looked_to
from (select case when count(*) = $2 then max(l.id) end as id from looked_at l) l
left join lateral (
    select distinct f.id, f.owner_id, f.sha256
    from looked_at b cross join lateral unnest(array[b.screenshot_id, b.image_id, b.favicon_id]) p(file_id)
    join forebay.file f on f.id = p.file_id
    where not exists (select from forebay.picture k where k.file_id = f.id)
) f on true
