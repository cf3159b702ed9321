-- Deletes the thumbnails of a picture that was deleted.
create or replace function forebay.drop_thumbnails() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
    delete from forebay.file f where f.id = any(old.thumbnail_ids);
    return null;
end $$;

create or replace trigger drop_thumbnails after delete on forebay.picture
    for each row execute function forebay.drop_thumbnails();
