-- The columns of the grid of a job: their names, the expression of each cell over `v` in grid_query, and their types: `own` for
-- columns of the file, `number`, or `text`. `shown` adds the groups `read` and `warnings`.
-- Columns of the file keep their names; an added column with the same name gets a number.
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
