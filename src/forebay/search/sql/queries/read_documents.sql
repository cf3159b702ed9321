-- Documents $1, and the version of each that model $2 has embedded.
select d.id, d.owner_id, d.title, d.body, d.marks, d.version, d.embeds, i.version as indexed_version
from forebay.search_document d
left join forebay.search_indexed i on i.document_id = d.id and i.model_id = $2
where d.id = any($1::bigint[])
