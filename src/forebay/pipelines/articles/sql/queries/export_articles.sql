-- Articles of owner $1 after $2, with their texts, at most $3.
select a.id, a.slug, a.title, a.version, a.skip_embedding, a.created_at, a.updated_at, v.content, v.message
from forebay.article a join forebay.article_version v on v.article_id = a.id and v.version = a.version
where a.owner_id = $1 and a.id > $2 order by a.id limit $3
