-- The conditions of a search as SQL about `d`, a document; $1 is the owner. filter:
--   kinds, tags: lists; since, until: times; phrases: what must occur, excluded: what must not (as of websearch_to_tsquery);
--   not: the id of a document that is left out
-- Every value is quoted: it comes from users.
create or replace function forebay.document_conditions(filter jsonb) returns text language sql stable as $$
select concat_ws(' and ', 'd.owner_id = $1',
    case when filter ? 'kinds' then format('d.kind = any(%L::text[])', array(select jsonb_array_elements_text(filter -> 'kinds'))) end,
    case when filter ? 'tags' then format('d.tags @> %L::text[]', array(select jsonb_array_elements_text(filter -> 'tags'))) end,
    case when filter ? 'since' then format('d.written_at >= %L::timestamptz', filter ->> 'since') end,
    case when filter ? 'until' then format('d.written_at < %L::timestamptz', filter ->> 'until') end,
    case when filter ? 'phrases' then format(
        'd.search @@ websearch_to_tsquery(forebay.document_config(d.language), %L)', filter ->> 'phrases') end,
    case when filter ? 'excluded' then format(
        'not d.search @@ websearch_to_tsquery(forebay.document_config(d.language), %L)', filter ->> 'excluded') end,
    case when filter ? 'not' then format('d.id <> %L::bigint', filter ->> 'not') end)
$$;
