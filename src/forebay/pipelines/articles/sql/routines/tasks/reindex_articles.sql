-- Queues a task for each article of an owner that needs one: its text is not embedded, and no task will do it. All of them are the
-- items of one job, which shows their progress and can be paused. A job of an earlier call that has not ended is returned instead.
-- with_failed: also those whose last task has failed. Returns null if nothing is to be done.
create or replace function forebay.reindex_articles(
    owner_id bigint, priority int, actor text, with_failed boolean, out job_id bigint, out created boolean, out items int
) language plpgsql as $$
#variable_conflict use_column
declare
    due bigint[];
    inputs jsonb[];
    owner text;
begin
    select o.name into strict owner from forebay.owner o where o.id = reindex_articles.owner_id;
    select array_agg(n.id order by n.id), array_agg(jsonb_build_object(
               'articleId', n.id, 'slug', n.slug, 'operation', case when n.embedded_version is null then 'create' else 'update' end)
               order by n.id)
    into due, inputs
    from (select a.* from forebay.article a cross join lateral forebay.article_embedding(a) e
          where a.owner_id = reindex_articles.owner_id and a.embedding <> 'fresh' and not a.skip_embedding
            and (e.state in ('stale', 'off') or with_failed and e.state = 'failed')
          order by a.id for update of a skip locked) n;
    if due is null then
        return;
    end if;
    select s.job_id, s.created, s.items into job_id, created, items from forebay.submit_many(
        'articles', inputs, owner, 'reindex', priority, meta => jsonb_build_object('reindex', true),
        unique_states => '{QUEUED,RUNNING,PAUSED}') s;
    if not created then
        return;
    end if;
    insert into forebay.article_task (job_id, item, article_id, owner_id)
    select reindex_articles.job_id, d.place, d.id, reindex_articles.owner_id from unnest(due) with ordinality d(id, place);
    update forebay.article a set embedding = 'waiting', problem = null, job_id = reindex_articles.job_id, item = d.place
    from unnest(due) with ordinality d(id, place) where a.id = d.id;
    perform forebay.note(actor, 'reindex', owner_id, job_id, null, jsonb_build_object('items', items), clock_timestamp());
end $$;
