-- The columns of every grid after those of the file: the values that were read, if shown, and the match.
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
