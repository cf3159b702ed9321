-- Queues the task of an article, also if nothing has changed or its last task has failed; returns the job, null without the article.
create or replace function forebay.embed_article(article_id bigint, priority int) returns bigint language plpgsql as $$
declare
    known forebay.article;
begin
    select a.* into known from forebay.article a where a.id = embed_article.article_id and not a.skip_embedding for update;
    if known.id is null then
        return null;
    end if;
    update forebay.article a set embedding = 'waiting', problem = null
    where a.id = known.id and a.embedded_version is distinct from a.version;
    return forebay.queue_embedding(
        known.owner_id, known.id, known.slug, case when known.embedded_version is null then 'create' else 'update' end, priority);
end $$;
