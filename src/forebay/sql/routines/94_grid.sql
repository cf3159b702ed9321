-- The grid of a sheet: its rows as people see them, and the files that are made of them. Pages and files have their cells from
-- the same expressions over item.input and item.result, so that they cannot differ.

-- A cell that no spreadsheet takes for a formula; a plain number is none. The same as services/spreadsheets/cells.py does.
-- The look at the first character spares nearly all cells the rest: letters, then digits.
create or replace function forebay.harmless(cell text) returns text language sql immutable parallel safe as $$
select case when ascii(cell) > 64 and ascii(cell) < 65291 then cell
            when ascii(cell) between 48 and 57 then cell
            when cell ~ '^''*[=+@\t\r\n\uff1d\uff0b\uff0d\uff20-]' and cell !~ '^[-+]?[0-9]+([.,][0-9]+)*$' then '''' || cell
            else cell end
$$;

-- The columns of the grid of a job: their names, and for each the expression that makes its cell of `v`, in grid_query.
-- The file's own keep their names: those of ours that it uses, too, get a number.
create or replace function forebay.grid_columns(job_id bigint, out names text[], out cells text[]) language plpgsql stable as $$
#variable_conflict use_column
declare
    sheet forebay.sheet;
    own text[];
    found constant text[] := array[
        ['Found title', 'title'], ['Found brand', 'brand'], ['Found GTIN', 'gtin'], ['Found SKU', 'sku'], ['Found MPN', 'mpn'],
        ['Found price', 'price'], ['Found currency', 'currency'], ['Found quantity', 'quantity'],
        ['Found category', 'category'], ['Found link', 'url'], ['Found image', 'image'], ['Provider', 'provider'],
        ['Score', 'score'], ['Why', 'reasons']];
    name text;
    free text;
    number int;
begin
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
    else
        own := coalesce(sheet.columns, '{}');
        cells := array(select format('v.r ->> %L', c) from unnest(own) with ordinality o(c, place) order by place);
    end if;
    names := own;
    foreach name in array array['Line', 'Status'] || array(select found[i][1] from generate_subscripts(found, 1) i) || 'Error'::text loop
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
    cells := array['v.line', 'v.status'] || cells
        || array(select format('v.f ->> %L', found[i][2]) from generate_subscripts(found, 1) i order by i) || 'v.reason'::text;
end $$;

-- The statement that makes rows of the grid of a job, in order: those after number `after` up to `upto` that have one of the
-- statuses (null: any), or without `after` those with the numbers in $1. What it makes of a row: `cells`, an array of them after
-- its number and status; `plain` and `harmless`, a column each; `object`, JSON by the names of the columns.
-- Each level of it does its part once a row: what is large is unpacked in the innermost, and a cell is taken out in the middle.
-- The outermost has no order of its own, which would cost a tenth: it is nothing but a projection, and the plan is guarded.
create or replace function forebay.grid_query(
    job_id bigint, shape text, after int default null, upto int default null, statuses forebay.item_status[] default null
) returns text language plpgsql stable as $$
declare
    grid record := forebay.grid_columns(grid_query.job_id);
    places text[] := array(select 'g.c' || i from generate_subscripts(grid.cells, 1) i order by i);
    made constant text := array_to_string(places, ', ');
begin
    return format(
        'select %s from (select v.n, v.status, %s from (
             select i.n, i.input ->> ''line'' as line, i.input -> ''row'' as r, i.input,
                    i.result -> ''look_up'' as f, i.error ->> ''reason'' as reason,
                    case when i.status = ''PENDING'' and exists (
                        select from forebay.lease l where l.job_id = i.job_id and l.ns @> i.n)
                    then ''PROCESSING'' else i.status::text end as status
             from forebay.item i where i.job_id = %s and i.n > 0 and %s order by i.n offset 0) v %s order by v.n offset 0) g',
        case shape
            when 'cells' then format('g.n, g.status, array[%s]::text[] as cells', made)
            when 'plain' then made
            when 'harmless' then array_to_string(array(
                -- the line, the status, numbers, codes and addresses are ours, or were checked
                select case when c ~ '^v\.(line|status|f ->> ''(gtin|price|currency|quantity|url|image|provider|score)'')$' then p
                            else format('forebay.harmless(%s)', p) end
                from unnest(places, grid.cells) with ordinality o(p, c, place) order by place), ', ')
            when 'object' then format('json_object(%L::text[], array[%s]::text[])', grid.names, made)
        end,
        array_to_string(array(
            select format('%s as c%s', c, place) from unnest(grid.cells) with ordinality o(c, place) order by place), ', '),
        job_id,
        case when after is null then 'i.n = any($1)' else format('i.n > %s and i.n <= %s', after, upto) end
        -- These have an index of their own: a few errors in a large job are found at once.
        || case when statuses <@ '{SKIPPED, NOT_FOUND, ERROR}' then ' and i.status in (''SKIPPED'', ''NOT_FOUND'', ''ERROR'')' else '' end,
        case when statuses is not null then format('where v.status = any(%L::text[])', statuses::text[]) end);
end $$;

-- A page of the grid: the rows with these numbers.
create or replace function forebay.grid_rows(job_id bigint, ns int[]) returns table (n int, status text, cells text[])
language plpgsql stable set enable_seqscan = off set jit = off as $$
begin
    return query execute forebay.grid_query(job_id, 'cells') using ns;
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
    perform forebay.grid_columns(job_id);
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
