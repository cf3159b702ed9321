-- Keeps the index of all searches in sync with bookmarks, whoever changes them.
create or replace function forebay.keep_bookmark_indexed() returns trigger language plpgsql as $$
begin
    if tg_op = 'DELETE' then
        perform forebay.delete_document(old.owner_id, 'bookmark', old.id::text);
    else
        perform forebay.index_bookmark(new.id);
    end if;
    return null;
end $$;

create or replace trigger keep_indexed after update on forebay.bookmark
    for each row when (
        (new.crawled_at is not null or old.crawled_at is not null)
        and ((new.own_title, new.title, new.tags, new.note, new.description, new.body, new.caption, new.ocr, new.language,
              new.deleted_at, new.crawled_at is null)
             is distinct from
             (old.own_title, old.title, old.tags, old.note, old.description, old.body, old.caption, old.ocr, old.language,
              old.deleted_at, old.crawled_at is null)))
    execute function forebay.keep_bookmark_indexed();

create or replace trigger forget_indexed after delete on forebay.bookmark
    for each row execute function forebay.keep_bookmark_indexed();
