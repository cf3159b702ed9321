-- A cell of the grid as JSON, from its text expression: numbers and booleans of the file keep their types.
create or replace function forebay.grid_json(cell text) returns text language sql immutable as $$
select case when cell = 'v.line' then 'v.input -> ''line'''
            when cell ~ '^v\.[rfm] ->> ' then regexp_replace(cell, '->>', '->')
            else format('to_jsonb(%s)', cell) end
$$;
