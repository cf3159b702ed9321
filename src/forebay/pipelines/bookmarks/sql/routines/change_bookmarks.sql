-- Does the same with many bookmarks: tag, untag, archive, unarchive, category, delete, restore, purge or crawl. Returns how many
-- were changed; those that are as requested already do not count.
create or replace function forebay.change_bookmarks(
    ids bigint[], action text, given_tags text[] default null, given_category bigint default null, only_steps text[] default null
) returns int language plpgsql as $$
declare
    at constant timestamptz := clock_timestamp();
    changed int;
begin
    if action = 'tag' then
        update forebay.bookmark b set tags = array(select distinct t from unnest(b.tags || given_tags) t order by t), updated_at = at
        where b.id = any(ids) and not b.tags @> given_tags;
    elsif action = 'untag' then
        update forebay.bookmark b set tags = array(select t from unnest(b.tags) t where t <> all(given_tags)), updated_at = at
        where b.id = any(ids) and b.tags && given_tags;
    elsif action = 'archive' then
        update forebay.bookmark b set archived_at = at, updated_at = at where b.id = any(ids) and b.archived_at is null;
    elsif action = 'unarchive' then
        update forebay.bookmark b set archived_at = null, updated_at = at where b.id = any(ids) and b.archived_at is not null;
    elsif action = 'category' then
        update forebay.bookmark b set category_id = given_category, updated_at = at
        where b.id = any(ids) and b.category_id is distinct from given_category;
    elsif action = 'delete' then
        update forebay.bookmark b set deleted_at = at, updated_at = at where b.id = any(ids) and b.deleted_at is null;
    elsif action = 'restore' then
        update forebay.bookmark b set deleted_at = null, updated_at = at where b.id = any(ids) and b.deleted_at is not null;
    elsif action = 'purge' then
        delete from forebay.bookmark b where b.id = any(ids);
    elsif action = 'crawl' then
        perform forebay.crawl_bookmark(b.owner_id, b.id, b.url, -10, coalesce(b.kind = 'image', false), only_steps => change_bookmarks.only_steps)
        from forebay.bookmark b where b.id = any(ids) and b.deleted_at is null;
    end if;
    get diagnostics changed = row_count;
    return changed;
end $$;
