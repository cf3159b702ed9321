-- The categories of an owner by name, with how many bookmarks each has.
select c.id, c.name, c.created_at, count(b.id) as bookmarks
from forebay.category c left join forebay.bookmark b on b.category_id = c.id and b.archived_at is null
where c.owner_id = $1
group by c.id order by c.name
