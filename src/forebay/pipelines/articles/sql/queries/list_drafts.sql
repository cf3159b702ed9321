-- The drafts of owner $1, the last changed first, with the first characters of their texts.
select d.key, d.article_id, d.base_version, d.title, left(d.content, 300) as content, d.updated_at
from forebay.article_draft d where d.owner_id = $1 order by d.updated_at desc limit $2
