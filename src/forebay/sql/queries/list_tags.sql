-- The tags of an owner, the most used first.
select t.tag, count(*) as bookmarks
from forebay.bookmark b cross join lateral unnest(b.tags) t(tag)
where b.owner_id = $1 and b.archived_at is null
group by t.tag order by count(*) desc, t.tag limit $2
