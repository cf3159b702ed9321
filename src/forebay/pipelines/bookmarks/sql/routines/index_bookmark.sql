-- Puts a bookmark into the index of all searches, once its page was crawled, or removes it from there.
create or replace function forebay.index_bookmark(bookmark_id bigint) returns void language plpgsql as $$
declare
    mark forebay.bookmark;  -- not a parameter: a dump would write the table before functions that it needs
begin
    select b.* into mark from forebay.bookmark b where b.id = bookmark_id;
    if mark.deleted_at is not null or mark.crawled_at is null then
        perform forebay.delete_document(mark.owner_id, 'bookmark', mark.id::text);
        return;
    end if;
    perform forebay.put_document(
        mark.owner_id, 'bookmark', mark.id::text, coalesce(mark.own_title, mark.title, mark.url),
        concat_ws(chr(10) || chr(10), mark.description, mark.note, mark.body, mark.caption, mark.ocr),
        mark.url, mark.language, mark.tags, mark.created_at);
end $$;
