-- Deletes what model $2 has of document $1.
with forgotten as (
    delete from forebay.search_indexed i where i.document_id = $1 and i.model_id = $2
)
delete from forebay.search_chunk c where c.document_id = $1 and c.model_id = $2
