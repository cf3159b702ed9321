-- A fingerprint of the columns of a file: the same for the same names in any order.
create or replace function forebay.column_fingerprint(columns text[]) returns bytea language sql immutable parallel safe as $$
select sha256(convert_to(string_agg(c, chr(31) order by c collate "C"), 'UTF8')) from unnest(columns) c
$$;
