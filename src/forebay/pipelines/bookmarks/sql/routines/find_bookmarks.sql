-- What match_bookmarks() does, for programs of the previous release, until they are restarted.
create or replace function forebay.find_bookmarks(
    before bigint, archived boolean, category_id bigint, tag text, kind text, duplicates boolean, max_rows int
) returns bigint[] language sql stable as $$
select m.ids from forebay.match_bookmarks(
    jsonb_strip_nulls(jsonb_build_object(
        'archived', archived, 'category', category_id::text, 'tags', case when tag is not null then jsonb_build_array(tag) end,
        'kinds', case when kind is not null then jsonb_build_array(kind) end, 'duplicates', nullif(duplicates, false))),
    false, before, max_rows) m
$$;
select forebay.permit_call('find_bookmarks(bigint, boolean, bigint, text, text, boolean, int)', 'forebay_api', 'forebay_admin');
