-- What rank_bookmarks() does, for programs of the previous release, until they are restarted.
create or replace function forebay.search_bookmarks(
    question text, archived boolean, category_id bigint, tag text, after_rank real, after_id bigint, max_rows int
) returns table (id bigint, rank real, snippet text) language sql stable as $$
select s.id, s.rank, s.snippet from forebay.rank_bookmarks(
    question,
    jsonb_strip_nulls(jsonb_build_object(
        'archived', archived, 'category', category_id::text, 'tags', case when tag is not null then jsonb_build_array(tag) end)),
    after_rank, after_id, max_rows) s
$$;
select forebay.permit_call('search_bookmarks(text, boolean, bigint, text, real, bigint, int)', 'forebay_api', 'forebay_admin');
