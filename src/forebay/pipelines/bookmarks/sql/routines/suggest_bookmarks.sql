-- Suggests bookmarks of the owner in forebay.owner_id whose titles contain a text of at least three characters, or, if there are
-- none, something similar, the best first. The score is 1 for a title that begins with it. The index of trigrams is forced: the
-- planner takes the operator of similar words for one that many titles match.
-- It runs without row-level security, because the operators of trigrams are not leakproof.
create or replace function forebay.suggest_bookmarks(question text, max_rows int)
returns table (id bigint, title text, url text, score real)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_indexscan = off as $$
#variable_conflict use_column
declare
    asked constant text := lower(question);
    likeness constant text := '%' || replace(replace(replace(asked, '\', '\\'), '%', '\%'), '_', '\_') || '%';
begin
    return query
        select b.id, b.title, b.url, case strpos(lower(b.title), asked) when 1 then 1 else 0.8 end::real as score
        from (select b.id, coalesce(b.own_title, b.title) as title, b.url from forebay.bookmark b
              where b.owner_id = forebay.acting_owner() and b.deleted_at is null
                and lower(coalesce(b.own_title, b.title)) like likeness
              limit 200) b
        order by score desc, b.id desc limit max_rows;
    if found then
        return;
    end if;
    return query execute format(
        'select b.id, b.title, b.url, (0.7 * %1$s.word_similarity($1, lower(b.title)))::real as score
         from (select b.id, coalesce(b.own_title, b.title) as title, b.url from forebay.bookmark b
               where b.owner_id = forebay.acting_owner() and b.deleted_at is null
                 and $1 operator(%1$s.<%%) lower(coalesce(b.own_title, b.title))
               limit 200) b
         order by score desc, b.id desc limit $2',
        -- The extension may be in any schema, of which no other object is to be found.
        (select e.extnamespace::regnamespace::text from pg_extension e where e.extname = 'pg_trgm'))
    using asked, max_rows;
end $$;
select forebay.permit_call('suggest_bookmarks(text, int)', 'forebay_api', 'forebay_admin');
