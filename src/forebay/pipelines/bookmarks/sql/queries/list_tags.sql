-- Lists the tags of an owner, the most used first.
select t.tag, count(*) as bookmarks from forebay.bookmark_tag t
where t.owner_id = $1 group by t.tag order by count(*) desc, t.tag limit $2
