-- Ends a batch of a stream: counts the stored items and makes them ready.
select forebay.append(
    cast($1 as bigint), cast($2 as bigint), cast($3 as int), cast($4 as int), cast($5 as int),
    cast($6 as int[]), cast($7 as int[]),
    coalesce(cast($8 as timestamptz), clock_timestamp() + make_interval(secs => cast($9 as float8))))
