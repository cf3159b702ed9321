-- The results of the steps of an item; the key '*', which no step can have, holds `normalized`.
-- Stable, as jsonb_build_object is: a function that is declared stricter than its body is not inlined.
create or replace function forebay.returned(result jsonb, normalized jsonb) returns jsonb language sql stable as $$
select case when normalized is null then result else coalesce(result, '{}') || jsonb_build_object('*', normalized) end
$$;
