-- What the steps of an item have returned; what is kept in `normalized` stands under '*', which is no step's name.
create or replace function forebay.returned(result jsonb, normalized jsonb) returns jsonb language sql immutable as $$
select case when normalized is null then result else coalesce(result, '{}') || jsonb_build_object('*', normalized) end
$$;
