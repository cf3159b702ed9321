-- Deletes files that a share no longer refers to.
create or replace function forebay.drop_share_files() returns trigger language plpgsql as $$
declare
    kept bigint[] := case when tg_op = 'UPDATE' then array[new.file_id, new.poster_id] else '{}' end;
begin
    delete from forebay.file f
    where f.id = any(array_remove(array[old.file_id, old.poster_id], null)) and f.id <> all(array_remove(kept, null));
    return null;
end $$;

create or replace trigger drop_files after delete or update of file_id, poster_id on forebay.share
    for each row execute function forebay.drop_share_files();
