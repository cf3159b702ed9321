-- Escapes the parts of a CSV cell with semicolons or tabs, for `harmless`.
create or replace function forebay.harmless_parts(cell text) returns text language sql immutable parallel safe as $$
select case when cell !~ '(?:^|[;\t])''*[=+@\t\r\n\uff1d\uff0b\uff0d\uff20-]' then cell  -- as nearly always
            else case when cell ~ '^''*[=+@\t\r\n\uff1d\uff0b\uff0d\uff20-]' then '''' else '' end || regexp_replace(
                cell, '([;\t])(?![-+]?[0-9]+(?:[.,][0-9]+)*(?:[;\t]|$))(''*[=+@\uff1d\uff0b\uff0d\uff20-])', '\1''\2', 'g') end
$$;

-- Escapes a CSV cell that a spreadsheet would run as a formula, also parts after a semicolon or a tab, where some split cells;
-- plain numbers are not escaped. Does the same as services/spreadsheets/cells.py, for workers of the release before. The first character decides for nearly all
-- cells: letters, then digits.
create or replace function forebay.harmless(cell text) returns text language sql immutable parallel safe as $$
select case when strpos(cell, ';') > 0 or strpos(cell, chr(9)) > 0 then forebay.harmless_parts(cell)
            when ascii(cell) > 64 and ascii(cell) < 65291 then cell
            when ascii(cell) between 48 and 57 then cell
            when cell ~ '^''*[=+@\t\r\n\uff1d\uff0b\uff0d\uff20-]' and cell !~ '^[-+]?[0-9]+([.,][0-9]+)*$' then '''' || cell
            else cell end
$$;
