-- Puts the current text of an article into the index of the search, where it is found by its words at once. Its vectors are
-- written by the task of the article, so that the index submits no job for it.
create or replace function forebay.put_article_document(article_id bigint) returns void language plpgsql as $$
begin
    perform forebay.put_document(
        a.owner_id, 'article', a.id::text, v.title, v.content, url => '/articles/' || a.id, written_at => a.updated_at,
        details => jsonb_build_object('slug', a.slug, 'version', a.version), source_version => a.version,
        embed => not a.skip_embedding, submits => false)
    from forebay.article a join forebay.article_version v on v.article_id = a.id and v.version = a.version
    where a.id = put_article_document.article_id;
end $$;
