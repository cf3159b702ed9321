-- The notes of a bookmark, with those of one step replaced.
create or replace function forebay.with_notes(notes jsonb, step text, fresh jsonb) returns jsonb
language sql immutable parallel safe as $$
select case when coalesce(jsonb_array_length(fresh), 0) > 0 then notes || jsonb_build_object(step, fresh) else notes - step end
$$;
