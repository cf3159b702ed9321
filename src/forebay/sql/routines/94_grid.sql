-- The grid of a sheet: its rows as people see them, and the files that are made of them. Pages and files have their cells from
-- the same expressions over item.input and item.result, so that they cannot differ.

-- What `harmless` does for a cell with semicolons or tabs.
create or replace function forebay.harmless_parts(cell text) returns text language sql immutable parallel safe as $$
select case when cell !~ '(?:^|[;\t])''*[=+@\t\r\n\uff1d\uff0b\uff0d\uff20-]' then cell  -- as nearly always
            else case when cell ~ '^''*[=+@\t\r\n\uff1d\uff0b\uff0d\uff20-]' then '''' else '' end || regexp_replace(
                cell, '([;\t])(?![-+]?[0-9]+(?:[.,][0-9]+)*(?:[;\t]|$))(''*[=+@\uff1d\uff0b\uff0d\uff20-])', '\1''\2', 'g') end
$$;

-- A cell of CSV that no spreadsheet takes for a formula, nor a part of it after a semicolon or a tab, where some divide cells; a
-- plain number is none. The same as services/spreadsheets/cells.py does. The look at the first character spares nearly all cells
-- the rest: letters, then digits.
create or replace function forebay.harmless(cell text) returns text language sql immutable parallel safe as $$
select case when strpos(cell, ';') > 0 or strpos(cell, chr(9)) > 0 then forebay.harmless_parts(cell)
            when ascii(cell) > 64 and ascii(cell) < 65291 then cell
            when ascii(cell) between 48 and 57 then cell
            when cell ~ '^''*[=+@\t\r\n\uff1d\uff0b\uff0d\uff20-]' and cell !~ '^[-+]?[0-9]+([.,][0-9]+)*$' then '''' || cell
            else cell end
$$;

-- The columns of the grid of a job: their names, for each the expression that makes its cell of `v`, in grid_query, and what it
-- is: `own` of the file, `number`, or `text`. `shown` adds what was read from the file's own: `read`, `warnings`.
-- The file's own keep their names: those of ours that it uses, too, get a number.
create or replace function forebay.grid_columns(
    job_id bigint, shown text[] default '{}', out names text[], out cells text[], out types text[]
) language plpgsql stable as $$
#variable_conflict use_column
declare
    sheet forebay.sheet;
    own text[];
    ours record;
    name text;
    free text;
    number int;
begin
    if not shown <@ array['read', 'warnings'] then
        perform forebay.refuse('FB002', 'show', 'names groups of columns, separated by commas: read, warnings');
    end if;
    select s.* into sheet from forebay.sheet s where s.job_id = grid_columns.job_id;
    if sheet.id is null then
        if exists (select from forebay.job j where j.id = grid_columns.job_id) then
            perform forebay.refuse('FB005', 'job', format(
                'job %s is not made of a sheet, so it has no grid: `forebay export %s` writes its items', grid_columns.job_id, grid_columns.job_id));
        end if;
        perform forebay.refuse('FB004', 'job', format('there is no job %s', grid_columns.job_id));
    end if;
    if sheet.kind in ('image', 'images') then
        own := array['Image'];
        cells := array['v.input #>> ''{image,name}'''];
        types := array['text'];
    else
        own := coalesce(sheet.columns, '{}');
        cells := array(select format('v.r ->> %L', c) from unnest(own) with ordinality o(c, place) order by place);
        types := array_fill('own'::text, array[cardinality(own)]);
    end if;
    select * into ours from forebay.grid_own_columns(shown);
    cells := array['v.line', 'v.status'] || cells || ours.cells;
    types := array['number', 'text'] || types || ours.types;
    names := own;
    foreach name in array array['Line', 'Status'] || ours.names loop
        free := name;
        number := 2;
        while free = any(names) loop
            free := name || ' ' || number;
            number := number + 1;
        end loop;
        names := names || free;
    end loop;
    number := cardinality(own);
    names := names[number + 1:number + 2] || own || names[number + 3:];
end $$;

-- The columns of every grid that come after those of the file: what was read, if it is shown, and what was found.
create or replace function forebay.grid_own_columns(shown text[], out names text[], out cells text[], out types text[])
language sql stable as $$
with field (place, label, name, type) as (values
    (1, 'title', 'title', 'text'), (2, 'brand', 'brand', 'text'), (3, 'GTIN', 'gtin', 'text'), (4, 'SKU', 'sku', 'text'),
    (5, 'MPN', 'mpn', 'text'), (6, 'price', 'price', 'number'), (7, 'currency', 'currency', 'text'),
    (8, 'quantity', 'quantity', 'number'), (9, 'category', 'category', 'text'), (10, 'link', 'url', 'text'),
    (11, 'image', 'image', 'text')
),
listed (place, name, cell, type) as (
    select f.place, 'Read ' || f.label, format('v.m ->> %L', f.name), f.type from field f where 'read' = any(shown)
    union all select 20, 'Warnings', 'forebay.warnings(v.problems)', 'text' where 'warnings' = any(shown)
    union all select 20 + f.place, 'Found ' || f.label, format('v.f ->> %L', f.name), f.type from field f
    union all values (41, 'Provider', 'v.f ->> ''provider''', 'text'), (42, 'Score', 'v.f ->> ''score''', 'number'),
                     (43, 'Why', 'v.f ->> ''reasons''', 'text'), (44, 'Error', 'v.reason', 'text')
)
select array_agg(l.name order by l.place), array_agg(l.cell order by l.place), array_agg(l.type order by l.place) from listed l
$$;

-- What was refused or changed when a row was read, in one text.
create or replace function forebay.warnings(problems jsonb) returns text language sql immutable parallel safe as $$
select string_agg(coalesce(p ->> 'column', p ->> 'field') || ': ' || (p ->> 'reason'), '; ' order by place)
from jsonb_array_elements(problems) with ordinality o(p, place)
$$;

-- A cell of the grid as JSON, by the expression that makes it a text: what is a number or true in the file stays so.
create or replace function forebay.grid_json(cell text) returns text language sql immutable as $$
select case when cell = 'v.line' then 'v.input -> ''line'''
            when cell ~ '^v\.[rfm] ->> ' then regexp_replace(cell, '->>', '->')
            else format('to_jsonb(%s)', cell) end
$$;

-- The statement that makes rows of the grid of a job, in order: those after number `after` up to `upto` that have one of the
-- statuses (null: any), or without `after` those with the numbers in $1. What it makes of a row: `cells`, an array of them after
-- its number and status; `plain` and `harmless`, a column each; `typed`, the same as plain, and then a letter for what each of the
-- file's own is (services/spreadsheets/xlsx_rows.py); `object`, JSON by the names of the columns.
-- Each level of it does its part once a row: what is large is unpacked in the innermost, and a cell is taken out in the middle.
-- The outermost has no order of its own, which would cost a tenth: it is nothing but a projection, and the plan is guarded.
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
                -- the line, the status, numbers, codes, addresses and reasons are ours, or were checked
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
        -- These have an index of their own: a few errors in a large job are found at once.
        || case when statuses <@ '{SKIPPED, NOT_FOUND, ERROR}' then ' and i.status in (''SKIPPED'', ''NOT_FOUND'', ''ERROR'')' else '' end,
        case when statuses is not null then format('where v.status = any(%L::text[])', statuses::text[]) end);
end $$;

-- A page of the grid: the rows with these numbers.
create or replace function forebay.grid_rows(job_id bigint, ns int[], shown text[] default '{}')
returns table (n int, status text, cells text[])
language plpgsql stable set enable_seqscan = off set jit = off as $$
begin
    return query execute forebay.grid_query(job_id, 'cells', shown => shown) using ns;
end $$;

-- Submits the writing of a file of the grid of a job, for the owner of the sheet.
create or replace function forebay.export_sheet(
    job_id bigint, format text, options jsonb, trace text default null
) returns bigint language plpgsql as $$
#variable_conflict use_column
declare
    sheet forebay.sheet;
    submitted bigint;
begin
    perform forebay.grid_columns(job_id, array(select jsonb_array_elements_text(options -> 'show')));
    select s.* into strict sheet from forebay.sheet s where s.job_id = export_sheet.job_id;
    select s.job_id into strict submitted from forebay.submit(
        forebay.traced('sheet_exports', trace),
        options || jsonb_build_object('jobId', sheet.job_id::text, 'name', sheet.name, 'format', export_sheet.format),
        (select o.name from forebay.owner o where o.id = sheet.owner_id),
        meta => jsonb_build_object('jobId', sheet.job_id::text, 'file', sheet.name, 'format', export_sheet.format)) s;
    insert into forebay.sheet_export (job_id, sheet_id, owner_id, format, options)
    values (submitted, sheet.id, sheet.owner_id, export_sheet.format, export_sheet.options);
    return submitted;
end $$;
