-- The versions of an article, the newest first.
select v.version, v.title, v.message, v.created_at, length(v.content) as characters
from forebay.article_version v
where v.article_id = $1 and v.version < $2
order by v.version desc limit $3
