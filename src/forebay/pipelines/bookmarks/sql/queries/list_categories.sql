-- Lists the categories of an owner by name, with their numbers of bookmarks.
select c.id, c.name, c.created_at,
       (select count(*) from forebay.bookmark b
        where b.owner_id = c.owner_id and b.category_id = c.id and b.archived_at is null and b.deleted_at is null) as bookmarks
from forebay.category c where c.owner_id = $1 order by c.name
