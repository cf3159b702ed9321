-- Suggests up to $3 tags of owner $1 that begin with the text $2, the most used first.
select t.tag, count(*) as bookmarks from forebay.bookmark_tag t
where t.owner_id = $1 and starts_with(lower(t.tag), lower($2::text)) group by t.tag order by count(*) desc, t.tag limit $3
