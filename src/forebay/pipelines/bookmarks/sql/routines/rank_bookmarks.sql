-- Finds bookmarks that match a query and a filter (see bookmark_conditions), the best first, among the thousand newest that match.
-- Each is searched with the configuration of its language. The index of words is forced: the planner underestimates the cost of
-- reading texts.
-- With row-level security, PostgreSQL cannot use the indexes of words and tags, whose operators are not leakproof: it runs
-- without, and reads only the rows of the owner in forebay.owner_id.
create or replace function forebay.rank_bookmarks(
    question text, filter jsonb, after_rank real, after_id bigint, max_rows int
) returns table (id bigint, rank real, snippet text)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_indexscan = off set plan_cache_mode = force_custom_plan as $$
declare
    statuses constant text[] := array(select jsonb_array_elements_text(filter -> 'statuses'));
begin
    return query execute format('
    with matching as (
        select b.id, ts_rank_cd(b.search, q.own)::real as rank, q.own
        from forebay.bookmark b cross join lateral websearch_to_tsquery(forebay.search_words(b.language), $2) q(own)
        where b.search @@ $3 and b.search @@ q.own and %s %s
        order by b.id desc limit 1000
    ), best as (
        select f.id, f.rank, f.own from matching f
        where $4::real is null or (f.rank, f.id) < ($4, $5)
        order by f.rank desc, f.id desc limit $6
    )
    select t.id, t.rank, ts_headline(
        forebay.search_words(b.language), left(coalesce(b.body, b.description, b.ocr, %L), 20000), t.own, %L)
    from best t join forebay.bookmark b on b.id = t.id',
        forebay.bookmark_conditions(filter),
        case when filter ? 'statuses' then format('and forebay.bookmark_status(
            (select i.status from forebay.item i where i.job_id = b.job_id and i.n = 1),
            exists (select from forebay.lease l where l.job_id = b.job_id), b.crawled_at) = any(%L::text[])', statuses) end,
        '', 'MaxFragments=2, MaxWords=24, MinWords=8, StartSel=**, StopSel=**')
    using forebay.acting_owner(), question, forebay.search_question(question), after_rank, after_id, max_rows;
end $$;
select forebay.permit_call('rank_bookmarks(text, jsonb, real, bigint, int)', 'forebay_api', 'forebay_admin');
