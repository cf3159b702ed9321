-- The name of a pipeline, after saying which trace the jobs of this transaction belong to: as an argument of what makes them
-- it costs no statement of its own. Null: as the session says.
create or replace function forebay.traced(pipeline text, trace text) returns text
language sql as $$
    select case when trace is null or set_config('forebay.trace', trace, true) is not null then pipeline end
$$;
