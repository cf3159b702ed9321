-- Documents $2 to $3 that model $1 does not have in their present version.
select d.id from forebay.search_document d
where d.id between $2 and $3 and d.embeds and not exists (
    select from forebay.search_indexed i where i.document_id = d.id and i.model_id = $1 and i.version >= d.version)
order by d.id
