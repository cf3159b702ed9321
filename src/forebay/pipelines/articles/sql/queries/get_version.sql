-- A version of an article, with its text.
select v.version, v.title, v.message, v.created_at, length(v.content) as characters, v.content
from forebay.article_version v where v.article_id = $1 and v.version = $2
