-- Adds an imported bookmark, with its category, which is created if needed, and archives it if it was archived.
create or replace function forebay.import_bookmark(
    owner_id bigint, url text, page_hash bytea, own_title text, note text, tags text[], category text, added_at timestamptz,
    archived boolean, is_image boolean, out id bigint, out created boolean, out job_id bigint
) language plpgsql as $$
#variable_conflict use_column
declare
    found_category bigint;
begin
    if category is not null then
        insert into forebay.category (owner_id, name) values (import_bookmark.owner_id, left(category, 200))
        on conflict (owner_id, name) do nothing;
        select c.id into found_category from forebay.category c
        where c.owner_id = import_bookmark.owner_id and c.name = left(category, 200);
    end if;
    select a.id, a.created, a.job_id into id, created, job_id from forebay.add_bookmark(
        import_bookmark.owner_id, import_bookmark.url, import_bookmark.page_hash, import_bookmark.own_title,
        import_bookmark.note, import_bookmark.tags, found_category, -10, import_bookmark.added_at, is_image,
        unarchives => false) a;
    if archived and created then
        update forebay.bookmark b set archived_at = clock_timestamp() where b.id = import_bookmark.id;
    end if;
end $$;
