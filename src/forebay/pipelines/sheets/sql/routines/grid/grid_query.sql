-- Builds the statement for rows of the grid of a job, in order: those after number `after` up to `upto` with one of the
-- statuses (null: any), or without `after` those with the numbers in $1. Forms of a row: `cells`, an array after number and
-- status; `plain`, one column per cell; `typed`, like plain, plus a letter for the type of each cell of the
-- file (services/spreadsheets/xlsx_rows.py); `object`, JSON by column names; `harmless`, plain with escaped formulas, for workers of
-- the release before.
-- Each level does its work once per row: large values are decompressed in the innermost, and cells are extracted in the middle.
-- The outermost has no ORDER BY, which would cost a tenth: it is only a projection, and a test checks the plan.
-- Pages and files use the same expressions over item.input and item.result, so that they cannot differ.
create or replace function forebay.grid_query(
    job_id bigint, shape text, after int default null, upto int default null, statuses forebay.item_status[] default null,
    shown text[] default '{}'
) returns text language plpgsql stable as $$
declare
    grid record := forebay.grid_columns(grid_query.job_id, shown);
    places text[] := array(select 'g.c' || i from generate_subscripts(grid.cells, 1) i order by i);
    made constant text := array_to_string(places, ', ');
begin
    return format(
        'select %s from (select v.n, v.status, %s%s from (
             select i.n, i.input ->> ''line'' as line, i.input -> ''row'' as r, i.input,
                    i.result -> ''look_up'' as f, i.error ->> ''reason'' as reason, %s
                    case when i.status = ''PENDING'' and exists (
                        select from forebay.lease l where l.job_id = i.job_id and l.ns @> i.n)
                    then ''PROCESSING'' else i.status::text end as status
             from forebay.item i where i.job_id = %s and i.n > 0 and %s order by i.n offset 0) v %s order by v.n offset 0) g',
        case shape
            when 'cells' then format('g.n, g.status, array[%s]::text[] as cells', made)
            when 'plain' then made
            when 'typed' then made || ', g.kinds'
            when 'harmless' then array_to_string(array(
                -- line, status, numbers, codes, URLs and reasons are generated or checked
                select case when c ~ '^v\.(line|status|[fm] ->> ''(gtin|price|currency|quantity|url|image|provider|score|reasons)'')$' then p
                            else format('forebay.harmless(%s)', p) end
                from unnest(places, grid.cells) with ordinality o(p, c, place) order by place), ', ')
            when 'object' then format('''{'' || array_to_string(array[%s], '', '') || ''}''', array_to_string(array(
                select format('%L || coalesce(%s::text, ''null'')', to_json(name) || ': ', p)
                from unnest(places, grid.names) with ordinality o(p, name, place) order by place), ', '))
        end,
        array_to_string(array(
            select format('%s as c%s', case when shape = 'object' then forebay.grid_json(c) else c end, place)
            from unnest(grid.cells) with ordinality o(c, place) order by place), ', '),
        case when shape = 'typed' then ', v.input ->> ''kinds'' as kinds' end,
        case when cardinality(shown) > 0 then 'i.normalized -> ''fields'' as m, i.normalized -> ''problems'' as problems,' end,
        job_id,
        case when after is null then 'i.n = any($1)' else format('i.n > %s and i.n <= %s', after, upto) end
        -- These have an index: a few errors in a large job are found quickly.
        || case when statuses <@ '{SKIPPED, NOT_FOUND, ERROR}' then ' and i.verdict <> ''DONE''' else '' end,
        case when statuses is not null then format('where v.status = any(%L::text[])', statuses::text[]) end);
end $$;
