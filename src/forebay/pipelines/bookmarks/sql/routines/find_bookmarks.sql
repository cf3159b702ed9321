-- Finds the ids of matching bookmarks, newest first; filters may be null. The statement is built for each call, because the
-- suitable index depends on the filters.
-- With row-level security, PostgreSQL cannot use the indexes of words and tags, whose operators are not leakproof: it runs
-- without, and reads only the rows of the owner in forebay.owner_id.
create or replace function forebay.find_bookmarks(
    before bigint, archived boolean, category_id bigint, tag text, kind text, duplicates boolean, max_rows int
) returns bigint[] language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
declare
    ids bigint[];
begin
    execute 'select array(select b.id from forebay.bookmark b where b.owner_id = $1 and b.id < $2'
        || case archived when true then ' and b.archived_at is not null' when false then ' and b.archived_at is null' else '' end
        || case when category_id is not null then ' and b.category_id = $3' else '' end
        || case when tag is not null then ' and b.tags @> array[$4]' else '' end
        || case when kind is not null then ' and b.kind = $5' else '' end
        || case when duplicates then ' and b.duplicate_of is not null' else '' end
        || ' order by b.id desc limit $6)'
    into ids
    using forebay.acting_owner(), coalesce(before, 9223372036854775807), category_id, tag, kind, max_rows;
    return ids;
end $$;
select forebay.permit_call('find_bookmarks(bigint, boolean, bigint, text, text, boolean, int)', 'forebay_api', 'forebay_admin');
