-- A draft of owner $1.
select d.key, d.article_id, d.base_version, d.title, d.content, d.updated_at
from forebay.article_draft d where d.owner_id = $1 and d.key = $2
