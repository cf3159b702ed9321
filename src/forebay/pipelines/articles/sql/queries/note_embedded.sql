-- Records that the index has vectors of version $3 of the document of article $1 of owner $2. If the document has changed since, the
-- task of that change will record it.
update forebay.article a set
    embedded_version = d.source_version, embedded_at = clock_timestamp(), problem = null,
    embedding = case when a.skip_embedding then 'off' when d.source_version = a.version then 'fresh' else a.embedding end
from forebay.search_document d
where a.id = $1 and a.owner_id = $2 and d.owner_id = a.owner_id and d.kind = 'article' and d.ref = a.id::text and d.version = $3
