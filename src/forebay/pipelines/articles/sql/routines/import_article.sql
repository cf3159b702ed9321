-- Saves an article of a file: adds it, or changes the one with the same file name. Returns created, updated or unchanged.
create or replace function forebay.import_article(
    owner_id bigint, slug text, title text, content text, message text, excerpt text, words int, skip_embedding boolean,
    priority text, embeds boolean
) returns text language plpgsql as $$
#variable_conflict use_column
declare
    known record;
begin
    select a.id, a.version into known from forebay.article a
    where a.owner_id = import_article.owner_id and a.slug = import_article.slug;
    if known.id is null then
        perform forebay.create_article(owner_id, slug, slug, title, content, message, excerpt, words, skip_embedding, priority, embeds);
        return 'created';
    end if;
    return case when forebay.update_article(
        known.id, null, null, title, content, message, excerpt, words, skip_embedding, priority, embeds, null, null) > known.version
        then 'updated' else 'unchanged' end;
end $$;
