-- Tells listeners on the channel `forebay_articles` that the text or the vectors of an article have changed.
create or replace function forebay.tell_article() returns trigger language plpgsql as $$
begin
    perform pg_notify('forebay_articles', json_build_object(
        'id', new.id::text, 'ownerId', new.owner_id::text, 'version', new.version, 'embedding', new.embedding)::text);
    return null;
end $$;
create or replace trigger tell_article after insert or update of version, embedding on forebay.article
for each row execute function forebay.tell_article();
