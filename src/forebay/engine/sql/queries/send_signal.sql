-- Sends a signal in the caller's transaction; returns how many tasks it reached.
select forebay.signal(
    cast($1 as text), cast($2 as text), cast(cast($3 as text) as jsonb), cast($4 as text), make_interval(secs => cast($5 as float8)))
