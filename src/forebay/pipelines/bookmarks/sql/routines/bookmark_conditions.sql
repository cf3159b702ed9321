-- The conditions of a filter over `b`, a bookmark of the owner $1, as a part of a statement; values are quoted. Keys of the filter:
-- trash, archived (null: all), category, tags (all of them), kinds, sites, since, until, duplicates, ids; and not_tags, not_kinds,
-- not_sites. A literal serves the planner better than a parameter: the suitable index depends on the filter.
create or replace function forebay.bookmark_conditions(filter jsonb) returns text language sql stable as $$
select 'b.owner_id = $1 and b.deleted_at is ' || case when (filter ->> 'trash')::boolean then 'not null' else 'null' end
    || case filter ->> 'archived' when 'true' then ' and b.archived_at is not null' when 'false' then ' and b.archived_at is null'
            else '' end
    || case when filter ? 'category' then format(' and b.category_id = %L::bigint', filter ->> 'category') else '' end
    || case when filter ? 'tags' then format(' and b.tags @> %L::text[]', listed.tags) else '' end
    || case when filter ? 'not_tags' then format(' and not b.tags && %L::text[]', listed.not_tags) else '' end
    || case when filter ? 'kinds' then format(' and b.kind = any(%L::text[])', listed.kinds) else '' end
    || case when filter ? 'not_kinds' then format(' and coalesce(b.kind, '''') <> all(%L::text[])', listed.not_kinds) else '' end
    || case when filter ? 'sites' then format(' and forebay.url_site(b.url) = any(%L::text[])', listed.sites) else '' end
    || case when filter ? 'not_sites' then format(' and forebay.url_site(b.url) <> all(%L::text[])', listed.not_sites) else '' end
    || case when filter ? 'since' then format(' and b.created_at >= %L::timestamptz', filter ->> 'since') else '' end
    || case when filter ? 'until' then format(' and b.created_at < %L::timestamptz', filter ->> 'until') else '' end
    || case filter ->> 'duplicates' when 'true' then ' and b.duplicate_of is not null' when 'false' then ' and b.duplicate_of is null'
            else '' end
    || case when filter ? 'ids' then format(' and b.id = any(%L::bigint[])', listed.ids) else '' end
from (select array(select jsonb_array_elements_text(filter -> 'tags')) as tags,
             array(select jsonb_array_elements_text(filter -> 'not_tags')) as not_tags,
             array(select jsonb_array_elements_text(filter -> 'kinds')) as kinds,
             array(select jsonb_array_elements_text(filter -> 'not_kinds')) as not_kinds,
             array(select jsonb_array_elements_text(filter -> 'sites')) as sites,
             array(select jsonb_array_elements_text(filter -> 'not_sites')) as not_sites,
             array(select jsonb_array_elements_text(filter -> 'ids')) as ids) listed
$$;
