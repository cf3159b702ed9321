-- The values of a row that were refused or corrected, in one text.
create or replace function forebay.warnings(problems jsonb) returns text language sql immutable parallel safe as $$
select string_agg(coalesce(p ->> 'column', p ->> 'field') || ': ' || (p ->> 'reason'), '; ' order by place)
from jsonb_array_elements(problems) with ordinality o(p, place)
$$;
