-- Counts bookmarks that match a filter and, if given, a query: all of them (`total`), and by kind, tag, category, site, status,
-- archived and duplicate. Reads at most max_rows + 1, the newest first: a total of max_rows + 1 means that there are more. Of tags
-- and sites, the 50 most frequent are listed.
-- It runs without row-level security for the same reason as match_bookmarks.
create or replace function forebay.bookmark_facets(question text, filter jsonb, max_rows int)
returns table (facet text, value text, bookmarks bigint)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set jit = off
set plan_cache_mode = force_custom_plan as $$
begin
    return query execute format('
    with found as materialized (
        select b.id, b.kind, b.tags, b.category_id, forebay.url_site(b.url) as site, b.archived_at is not null as archived,
               b.duplicate_of is not null as duplicate, b.job_id, b.crawled_at
        from forebay.bookmark b where %s %s order by b.id desc limit $4 + 1
    ), matching as materialized (
        select f.*, forebay.bookmark_status(i.status, l.job_id is not null, f.crawled_at) as status
        from found f left join forebay.item i on i.job_id = f.job_id and i.n = 1
        left join (select distinct l.job_id from forebay.lease l where l.owner_id = $1) l on l.job_id = f.job_id
    ), wanted as (select m.* from matching m where $5::text[] is null or m.status = any($5))
    select %L, null::text, count(*) from wanted
    union all select %L, m.kind, count(*) from wanted m where m.kind is not null group by m.kind
    union all select %L, m.status, count(*) from wanted m group by m.status
    union all select %L, m.archived::text, count(*) from wanted m group by m.archived
    union all select %L, true::text, count(*) from wanted m where m.duplicate having count(*) > 0
    union all select %L, m.category_id::text, count(*) from wanted m where m.category_id is not null group by m.category_id
    union all (select %L, t.tag, count(*) from wanted m cross join lateral unnest(m.tags) t(tag)
               group by t.tag order by count(*) desc, t.tag limit 50)
    union all (select %L, m.site, count(*) from wanted m where m.site <> %L group by m.site order by count(*) desc, m.site limit 50)
    union all select %L, null::text, count(*) from found',
        forebay.bookmark_conditions(filter),
        case when question is not null then
            'and b.search @@ $3 and b.search @@ websearch_to_tsquery(forebay.search_words(b.language), $2)' end,
        'total', 'kind', 'status', 'archived', 'duplicate', 'category', 'tag', 'site', '', 'read')
    using forebay.acting_owner(), question, case when question is not null then forebay.search_question(question) end, max_rows,
        case when filter ? 'statuses' then array(select jsonb_array_elements_text(filter -> 'statuses')) end;
end $$;
select forebay.permit_call('bookmark_facets(text, jsonb, int)', 'forebay_api', 'forebay_admin');
