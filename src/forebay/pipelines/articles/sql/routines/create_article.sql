-- Adds an article with its first version, and submits its task; both are committed together. `slug` is the file name that the
-- caller demands, `wanted` the one that is used if nothing is demanded, with a number if it is taken.
-- embeds: whether a task is submitted; without one the article counts as stale until it is embedded otherwise.
create or replace function forebay.create_article(
    owner_id bigint, slug text, wanted text, title text, content text, message text, excerpt text, words int,
    skip_embedding boolean, priority text, embeds boolean, draft text default null, trace text default null, out id bigint
) language plpgsql as $$
#variable_conflict use_column
declare
    name text := coalesce(create_article.slug, wanted);
    turn int := 1;
begin
    loop
        insert into forebay.article (owner_id, slug, title, excerpt, words, skip_embedding, embedding)
        values (create_article.owner_id, name, create_article.title, create_article.excerpt, create_article.words,
                create_article.skip_embedding,
                case when create_article.skip_embedding then 'off' when embeds then 'waiting' else 'stale' end)
        on conflict (owner_id, slug) do nothing returning article.id into id;
        exit when id is not null;
        if create_article.slug is not null then
            perform forebay.refuse('FB005', 'slug', format('an article %L already exists', name));
        end if;
        turn := turn + 1;
        name := left(wanted, 240) || '-' || case when turn < 20 then turn::text else substr(md5(random()::text), 1, 12) end;
    end loop;
    insert into forebay.article_version (article_id, version, owner_id, title, content, message)
    values (id, 1, create_article.owner_id, create_article.title, create_article.content, create_article.message);
    perform forebay.put_article_document(id);
    delete from forebay.article_draft d where d.owner_id = create_article.owner_id and d.key = draft;
    if embeds and not create_article.skip_embedding then
        perform forebay.queue_embedding(
            create_article.owner_id, id, name, 'create', forebay.priority_rank(priority), trace => create_article.trace);
    end if;
end $$;
