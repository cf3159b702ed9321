-- Whole bookmarks of an owner, those of a category together, after category $2 (0: none) and id $3.
select b.id, coalesce(b.category_id, 0) as category_id, b.url, coalesce(b.own_title, b.title) as title, b.note, b.tags,
       c.name as category, b.created_at, b.archived_at is not null as archived
from forebay.bookmark b left join forebay.category c on c.id = b.category_id
where b.owner_id = $1 and (coalesce(b.category_id, 0), b.id) > ($2::bigint, $3::bigint)
order by coalesce(b.category_id, 0), b.id limit $4
