-- Keeps bookmark_tag in sync with the tags of bookmarks that are neither archived nor deleted.
create or replace function forebay.keep_bookmark_tags() returns trigger language plpgsql as $$
declare
    before text[] := case when tg_op = 'UPDATE' and old.archived_at is null and old.deleted_at is null then old.tags else '{}' end;
    after text[] := case when new.archived_at is null and new.deleted_at is null then new.tags else '{}' end;
begin
    if before = after then
        return null;
    end if;
    delete from forebay.bookmark_tag t where t.bookmark_id = new.id and t.tag <> all(after);
    insert into forebay.bookmark_tag (owner_id, tag, bookmark_id)
    select distinct new.owner_id, u.tag, new.id from unnest(after) u(tag) where u.tag <> all(before);
    return null;
end $$;

create or replace trigger keep_tags_of_new after insert on forebay.bookmark
    for each row when (new.tags <> '{}') execute function forebay.keep_bookmark_tags();

create or replace trigger keep_tags after update of tags, archived_at, deleted_at on forebay.bookmark
    for each row execute function forebay.keep_bookmark_tags();
