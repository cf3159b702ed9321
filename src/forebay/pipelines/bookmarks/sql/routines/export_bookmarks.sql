-- Lists some of the bookmarks, ordered by category.
-- Runs without row-level security, like find_bookmarks, and reads only the rows of the owner in forebay.owner_id.
create or replace function forebay.export_bookmarks(after_category bigint, after_id bigint, max_rows int) returns table (
    id bigint, category_id bigint, url text, own_title text, title text, note text, tags text[], category text,
    created_at timestamptz, archived boolean
) language sql stable security definer set search_path = pg_catalog, pg_temp as $$
select b.id, coalesce(b.category_id, 0), b.url, b.own_title, b.title, b.note, b.tags, c.name, b.created_at,
       b.archived_at is not null
from forebay.bookmark b left join forebay.category c on c.id = b.category_id
where b.owner_id = forebay.acting_owner() and b.deleted_at is null and (coalesce(b.category_id, 0), b.id) > (after_category, after_id)
order by coalesce(b.category_id, 0), b.id limit max_rows
$$;
select forebay.permit_call('export_bookmarks(bigint, bigint, int)', 'forebay_api', 'forebay_admin');
