-- The bookmarks that jobs $1 of one item are about, with their titles; without the title if the bookmark was deleted.
select k.id as job_id, i.bookmark_id, coalesce(b.own_title, b.title, b.url, i.url) as title
from unnest($1::bigint[]) k(id)
cross join lateral (
    select (i.input ->> 'bookmarkId')::bigint as bookmark_id, i.input ->> 'url' as url
    from forebay.item i where i.job_id = k.id and i.n = 1 limit 1) i
left join lateral (select b.own_title, b.title, b.url from forebay.bookmark b where b.id = i.bookmark_id limit 1) b on true
where i.bookmark_id is not null
