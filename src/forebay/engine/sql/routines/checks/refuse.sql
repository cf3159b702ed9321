-- Raises an error with an SQLSTATE of class FB that names the field (column_name): see forebay.errors.
create or replace function forebay.refuse(code text, field text, reason text) returns void
language plpgsql as $$
begin
    raise exception '%: %', field, reason using errcode = code, column = field;
end $$;
