-- The hashes of the chunks that model $2 has of documents $1.
select c.document_id, c.hash from forebay.search_chunk c where c.model_id = $2 and c.document_id = any($1::bigint[])
