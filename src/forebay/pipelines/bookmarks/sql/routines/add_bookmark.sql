-- Adds a bookmark and submits its job, or finds the one of the same page, which is unarchived, taken out of the trash, and updated with the given values.
create or replace function forebay.add_bookmark(
    owner_id bigint, url text, page_hash bytea, own_title text, note text, tags text[], category_id bigint,
    priority int default 0, added_at timestamptz default null, is_image boolean default false, trace text default null,
    favicon text default null, unarchives boolean default true, out id bigint, out created boolean, out job_id bigint
) language plpgsql as $$
#variable_conflict use_column
begin
    if add_bookmark.category_id is not null and not exists (
        select from forebay.category c where c.id = add_bookmark.category_id and c.owner_id = add_bookmark.owner_id
    ) then
        perform forebay.refuse('FB004', 'categoryId', format('there is no category %s', add_bookmark.category_id));
    end if;
    insert into forebay.bookmark (owner_id, url, page_hash, own_title, note, tags, category_id, created_at)
    values (add_bookmark.owner_id, add_bookmark.url, add_bookmark.page_hash, add_bookmark.own_title, add_bookmark.note,
            coalesce(add_bookmark.tags, '{}'), add_bookmark.category_id, coalesce(added_at, clock_timestamp()))
    on conflict (owner_id, page_hash) do nothing
    returning bookmark.id into id;
    created := id is not null;
    if not created then
        update forebay.bookmark b set
            archived_at = case when unarchives then null else b.archived_at end,
            deleted_at = null,
            -- The title of the page is not stored as the owner's title.
            own_title = coalesce(nullif(add_bookmark.own_title, b.title), b.own_title),
            note = coalesce(add_bookmark.note, b.note),
            tags = case when add_bookmark.tags is null then b.tags
                        else array(select distinct t from unnest(b.tags || add_bookmark.tags) t order by t) end,
            category_id = coalesce(add_bookmark.category_id, b.category_id),
            updated_at = clock_timestamp()
        where b.owner_id = add_bookmark.owner_id and b.page_hash = add_bookmark.page_hash
        returning b.id, b.job_id into id, job_id;
        return;
    end if;
    job_id := forebay.crawl_bookmark(add_bookmark.owner_id, id, add_bookmark.url, priority, is_image, favicon, trace);
end $$;
