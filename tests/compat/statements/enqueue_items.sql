-- Makes the stored items of a new job ready and records their number.
with counted as (
    update forebay.job j set total = cast($2 as int) where j.id = cast($1 as bigint) and j.total <> cast($2 as int)
)
select forebay.enqueue(
    cast($1 as bigint), 1, cast($2 as int),
    coalesce(cast($3 as timestamptz), clock_timestamp() + make_interval(secs => cast($4 as float8))))
