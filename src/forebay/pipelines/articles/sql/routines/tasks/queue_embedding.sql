-- Submits the task that brings the vectors of an article up to date, in the caller's transaction. A task of the same article that
-- has not begun is replaced: its text is read when it runs. Returns the job.
create or replace function forebay.queue_embedding(
    owner_id bigint, article_id bigint, slug text, operation text, priority int, delay interval default null,
    max_wait interval default null, trace text default null
) returns bigint language plpgsql as $$
declare
    owner text;
    submitted bigint;
begin
    select o.name into strict owner from forebay.owner o where o.id = queue_embedding.owner_id;
    select s.job_id into submitted from forebay.submit(
        forebay.traced('articles', trace),
        jsonb_build_object('articleId', article_id, 'slug', slug, 'operation', operation),
        owner, 'article ' || article_id, priority, clock_timestamp() + delay, true,
        jsonb_build_object('articleId', article_id::text), null, case when delay is not null then max_wait end) s;
    insert into forebay.article_task (job_id, item, article_id, owner_id)
    values (submitted, 1, queue_embedding.article_id, queue_embedding.owner_id) on conflict do nothing;
    update forebay.article a set job_id = submitted, item = 1 where a.id = queue_embedding.article_id;
    return submitted;
end $$;
