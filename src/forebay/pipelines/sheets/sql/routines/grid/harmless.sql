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
