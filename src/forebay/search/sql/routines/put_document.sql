-- Adds or changes a document of an owner, in the transaction of the caller, and submits a job that indexes it if its title or text
-- has changed. Rapid changes share a job, which starts `delay` after the last, at most max_wait after the first.
-- source_version: a call with an older one than the stored one changes nothing. embed => false: the document is found by its words
-- only. submits => false: the caller embeds it itself. changed: whether there is something to embed, or vectors to delete.
create or replace function forebay.put_document(
    owner_id bigint, kind text, ref text, title text, body text, url text default null, language text default null,
    tags text[] default null, written_at timestamptz default null, marks jsonb default null, details jsonb default null,
    source_version bigint default null, embed boolean default true, submits boolean default true,
    delay interval default '1 second', max_wait interval default '15 seconds', priority int default 0,
    out id bigint, out version bigint, out changed boolean
) language plpgsql as $$
#variable_conflict use_column
declare
    known record;
    own_title constant text := left(coalesce(put_document.title, ''), 1000);
    own_body constant text := left(coalesce(put_document.body, ''), 2000000);
    content constant bytea := sha256(convert_to(own_title || chr(10) || own_body, 'UTF8'));
begin
    loop
        select d.id, d.version, d.content_hash, d.source_version, d.embeds into known from forebay.search_document d
        where d.owner_id = put_document.owner_id and d.kind = put_document.kind and d.ref = put_document.ref
        for no key update;
        if found and put_document.source_version < known.source_version then
            id := known.id;
            version := known.version;
            changed := false;
            return;
        elsif found then
            changed := known.content_hash <> content or embed <> known.embeds;
            update forebay.search_document d set
                title = own_title, body = own_body, url = put_document.url, language = put_document.language,
                tags = coalesce(put_document.tags, '{}'), written_at = coalesce(put_document.written_at, d.written_at),
                marks = put_document.marks, details = put_document.details, content_hash = content,
                version = d.version + (known.content_hash <> content)::int, source_version = put_document.source_version,
                embeds = embed, updated_at = case when known.content_hash <> content then clock_timestamp() else d.updated_at end
            where d.id = known.id returning d.id, d.version into id, version;
            exit;
        end if;
        insert into forebay.search_document as d (
            owner_id, kind, ref, title, body, url, language, tags, written_at, marks, details, content_hash, source_version, embeds)
        values (put_document.owner_id, put_document.kind, put_document.ref, own_title, own_body, put_document.url,
                put_document.language, coalesce(put_document.tags, '{}'), coalesce(put_document.written_at, clock_timestamp()),
                put_document.marks, put_document.details, content, put_document.source_version, embed)
        on conflict (owner_id, kind, ref) do nothing returning d.id, d.version into id, version;
        changed := true;
        exit when found;
    end loop;
    if changed and submits then
        perform forebay.index_document(put_document.owner_id, id, delay, max_wait, priority);
    end if;
end $$;
