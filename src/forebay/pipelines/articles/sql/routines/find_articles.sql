-- The ids of articles of the acting owner, the last changed first, in some states or in all, after the one at (before, before_id).
create or replace function forebay.find_articles(
    states text[], before timestamptz, before_id bigint, max_rows int
) returns table (id bigint, updated_at timestamptz) language plpgsql stable as $$
#variable_conflict use_column
begin
    if states is null then
        return query
            select a.id, a.updated_at from forebay.article a
            where a.owner_id = forebay.acting_owner()
              and (a.updated_at, a.id) < (coalesce(before, 'infinity'), coalesce(before_id, 0))
            order by a.updated_at desc, a.id desc limit max_rows;
    elsif 'fresh' = any(states) then
        return query
            select a.id, a.updated_at from forebay.article a cross join lateral forebay.article_embedding(a) e
            where a.owner_id = forebay.acting_owner()
              and (a.updated_at, a.id) < (coalesce(before, 'infinity'), coalesce(before_id, 0)) and e.state = any(states)
            order by a.updated_at desc, a.id desc limit max_rows;
    else
        return query
            select a.id, a.updated_at from forebay.article a cross join lateral forebay.article_embedding(a) e
            where a.owner_id = forebay.acting_owner() and a.embedding <> 'fresh'
              and (a.updated_at, a.id) < (coalesce(before, 'infinity'), coalesce(before_id, 0)) and e.state = any(states)
            order by a.updated_at desc, a.id desc limit max_rows;
    end if;
end $$;
