-- How many documents each model in use does not have in their present version.
select m.name, m.state, m.missing as count from (
    select m.name, m.state, (
        select count(*) from forebay.search_document d
        left join forebay.search_indexed i on i.document_id = d.id and i.model_id = m.id
        where d.embeds and (i.version is null or i.version < d.version)) as missing
    from forebay.search_model m where m.state <> 'old') m
