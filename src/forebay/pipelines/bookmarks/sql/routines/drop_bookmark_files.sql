-- Deletes files that a bookmark no longer refers to.
create or replace function forebay.drop_bookmark_files() returns trigger language plpgsql as $$
declare
    kept bigint[] := case when tg_op = 'UPDATE'
        then array[new.screenshot_id, new.full_page_id, new.image_id, new.favicon_id] else '{}' end;
begin
    delete from forebay.file f
    where f.id = any(array_remove(array[old.screenshot_id, old.full_page_id, old.image_id, old.favicon_id], null))
      and f.id <> all(array_remove(kept, null));
    return null;
end $$;

create or replace trigger drop_files after delete or update of screenshot_id, full_page_id, image_id, favicon_id on forebay.bookmark
    for each row execute function forebay.drop_bookmark_files();
