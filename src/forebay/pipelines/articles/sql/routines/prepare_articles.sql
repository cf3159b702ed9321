-- What the tasks of articles need to know, by the ids of the articles; those that are deleted are missing. The document of an
-- article that was stored without one, or has an older text, is put into the index first.
create or replace function forebay.prepare_articles(ids bigint[]) returns table (
    id bigint, owner_id bigint, version int, embedded_version int, skip_embedding boolean, document_id bigint
) language plpgsql as $$
#variable_conflict use_column
begin
    perform forebay.put_article_document(a.id)
    from forebay.article a
    left join forebay.search_document d on d.owner_id = a.owner_id and d.kind = 'article' and d.ref = a.id::text
    where a.id = any(ids) and (d.id is null or d.source_version < a.version or d.embeds = a.skip_embedding);
    return query
        select a.id, a.owner_id, a.version, a.embedded_version, a.skip_embedding, d.id
        from forebay.article a
        join forebay.search_document d on d.owner_id = a.owner_id and d.kind = 'article' and d.ref = a.id::text
        where a.id = any(ids);
end $$;
