-- The columns of the grid of a job, for those who show it: a key that does not depend on the language of titles; the name; the
-- kind (`own` of the file, `read`, `found`, or `meta`); and the type of the cells. Columns of the file have the type of the field
-- that they are mapped to.
create or replace function forebay.grid_details(
    job_id bigint, shown text[] default '{}', out keys text[], out names text[], out kinds text[], out types text[]
) language plpgsql stable as $$
#variable_conflict use_column
declare
    grid record := forebay.grid_columns(grid_details.job_id, shown);
    mapping jsonb := (select s.mapping -> 'fields' from forebay.sheet s where s.job_id = grid_details.job_id);
begin
    names := grid.names;
    with part as (
        select c.name, c.place, substring(c.cell from '^v\.[fm] ->> ''(\w+)''$') as field,
               case when c.cell ~ '^v\.(r|input) ' then 'own' when c.cell ~ '^v\.m ' then 'read' when c.cell ~ '^v\.f ' then 'found'
                    else 'meta' end as kind,
               case when c.cell ~ '^v\.reason$' then 'error' when c.cell ~ '^v\.\w+$' then substr(c.cell, 3) else 'warnings' end as fact
        from unnest(grid.names, grid.cells) with ordinality c(name, cell, place)
    ), named as (
        select p.place, p.kind, p.fact,
               case p.kind when 'meta' then p.fact when 'own' then 'own:' || p.name else p.kind || ':' || p.field end as key,
               -- A column may be that of several fields: the first in the order of names decides.
               case p.kind when 'own' then (
                   select min(f.key) from jsonb_each_text(mapping) f where f.value = p.name) else p.field end as field
        from part p
    )
    select array_agg(n.key order by n.place), array_agg(n.kind order by n.place),
           array_agg(case when n.field in ('price', 'quantity') or n.key = 'line' then 'number' when n.field = 'url' then 'link'
                          when n.field = 'image' then 'image' when n.field = 'score' then 'score' when n.key = 'status' then 'status'
                          else 'text' end order by n.place)
    into keys, kinds, types from named n;
end $$;
