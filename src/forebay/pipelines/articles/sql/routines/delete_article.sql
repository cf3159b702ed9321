-- Deletes an article with its versions and its document, so that no search shows it any more, and submits the task that removes what
-- is left of it: the task has no reference to the article's row, so that it outlives it, and replaces a task that has not begun.
-- Returns the job; null if there is no such article.
create or replace function forebay.delete_article(
    article_id bigint, expected int default null, trace text default null
) returns bigint language plpgsql as $$
declare
    known forebay.article;
begin
    select a.* into known from forebay.article a where a.id = delete_article.article_id for update;
    if known.id is null then
        return null;
    elsif expected <> known.version then
        perform forebay.refuse('FB005', 'version', format('the article has version %s now', known.version));
    end if;
    perform forebay.delete_document(known.owner_id, 'article', known.id::text);
    delete from forebay.article a where a.id = known.id;
    return forebay.queue_embedding(known.owner_id, known.id, known.slug, 'delete', 0, trace => delete_article.trace);
end $$;
