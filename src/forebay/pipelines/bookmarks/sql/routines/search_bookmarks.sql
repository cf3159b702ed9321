-- Finds bookmarks that match a query, the best first, among the thousand newest that match. Each is searched with the
-- configuration of its language. The index of words is forced: the planner underestimates the cost of reading texts.
-- With row-level security, PostgreSQL cannot use the indexes of words and tags, whose operators are not leakproof: it runs
-- without, and reads only the rows of the owner in forebay.owner_id.
create or replace function forebay.search_bookmarks(
    question text, archived boolean, category_id bigint, tag text, after_rank real, after_id bigint, max_rows int
) returns table (id bigint, rank real, snippet text)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_indexscan = off set plan_cache_mode = force_custom_plan as $$
#variable_conflict use_column
declare
    wanted constant tsquery := forebay.search_question(question);
    owner constant bigint := forebay.acting_owner();
begin
    return query
    with fitting as (
        select b.id, ts_rank_cd(b.search, q.own)::real as rank, q.own
        from forebay.bookmark b cross join lateral websearch_to_tsquery(forebay.search_words(b.language), question) q(own)
        where b.owner_id = owner and b.search @@ wanted and b.search @@ q.own
          and (archived is null or (b.archived_at is not null) = archived)
          and (search_bookmarks.category_id is null or b.category_id = search_bookmarks.category_id)
          and (tag is null or b.tags @> array[tag])
        order by b.id desc limit 1000
    ), best as (
        select f.id, f.rank, f.own from fitting f
        where after_rank is null or (f.rank, f.id) < (after_rank, after_id)
        order by f.rank desc, f.id desc limit max_rows
    )
    select t.id, t.rank, ts_headline(
        forebay.search_words(b.language), left(coalesce(b.body, b.description, b.ocr, ''), 20000), t.own,
        'MaxFragments=2, MaxWords=24, MinWords=8, StartSel=**, StopSel=**')
    from best t join forebay.bookmark b on b.id = t.id;
end $$;
select forebay.permit_call('search_bookmarks(text, boolean, bigint, text, real, bigint, int)', 'forebay_api', 'forebay_admin');
