-- The results of the steps of an item; the key '*', which no step can have, holds `normalized`.
create or replace function forebay.returned(result jsonb, normalized jsonb) returns jsonb language sql immutable as $$
select case when normalized is null then result else coalesce(result, '{}') || jsonb_build_object('*', normalized) end
$$;
