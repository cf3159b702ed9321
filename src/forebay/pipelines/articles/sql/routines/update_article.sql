-- Changes an article: a text or title that differs becomes a new version, and a task is submitted with it. Null: as it is.
-- expected: the version that the caller has seen. Returns the version; null if there is no such article.
create or replace function forebay.update_article(
    article_id bigint, expected int, slug text, title text, content text, message text, excerpt text, words int,
    skip_embedding boolean, priority text, embeds boolean, delay interval, max_wait interval, draft text default null,
    trace text default null
) returns int language plpgsql as $$
#variable_conflict use_column
declare
    known forebay.article;
    is_changed boolean;
    skips boolean;
begin
    select a.* into known from forebay.article a where a.id = update_article.article_id for update;
    if known.id is null then
        return null;
    elsif expected <> known.version then
        perform forebay.refuse('FB005', 'version', format('the article has version %s now', known.version));
    end if;
    skips := coalesce(update_article.skip_embedding, known.skip_embedding);
    is_changed := update_article.title <> known.title or update_article.content <> (
        select v.content from forebay.article_version v where v.article_id = known.id and v.version = known.version);
    if coalesce(is_changed, false) then
        insert into forebay.article_version (article_id, version, owner_id, title, content, message)
        select known.id, known.version + 1, known.owner_id, coalesce(update_article.title, known.title),
               coalesce(update_article.content, v.content), update_article.message
        from forebay.article_version v where v.article_id = known.id and v.version = known.version;
        known.version := known.version + 1;
    end if;
    begin
        update forebay.article a set
            slug = coalesce(update_article.slug, a.slug), title = coalesce(update_article.title, a.title),
            excerpt = coalesce(update_article.excerpt, a.excerpt), words = coalesce(update_article.words, a.words),
            version = known.version, skip_embedding = skips, updated_at = clock_timestamp(),
            embedding = case when skips then 'off' when a.embedded_version = known.version then 'fresh'
                             when embeds then 'waiting' else 'stale' end,
            problem = case when is_changed then null else a.problem end
        where a.id = known.id;
    exception when unique_violation then
        perform forebay.refuse('FB005', 'slug', format('an article %L already exists', update_article.slug));
    end;
    if skips and known.embedded_version is not null then  -- its vectors go with its document, which is put anew without them
        perform forebay.delete_document(known.owner_id, 'article', known.id::text);
        update forebay.article a set embedded_version = null, embedded_at = null where a.id = known.id;
    end if;
    perform forebay.put_article_document(known.id);
    delete from forebay.article_draft d where d.owner_id = known.owner_id and d.key = draft;
    if embeds and not skips and known.embedded_version is distinct from known.version then
        perform forebay.queue_embedding(
            known.owner_id, known.id, coalesce(update_article.slug, known.slug),
            case when known.embedded_version is null then 'create' else 'update' end, forebay.priority_rank(priority),
            update_article.delay, update_article.max_wait, update_article.trace);
    end if;
    return known.version;
end $$;
