-- Suggests up to $3 of the 500 newest bookmarks of owner $1 whose titles begin with the short text $2.
select n.id, n.title, n.url, 1::real as score
from (select b.id, coalesce(b.own_title, b.title) as title, b.url from forebay.bookmark b
      where b.owner_id = $1 and b.archived_at is null and b.deleted_at is null order by b.id desc limit 500) n
where starts_with(lower(n.title), lower($2::text)) order by n.id desc limit $3
