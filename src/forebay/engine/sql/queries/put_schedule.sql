-- Creates or changes a schedule.
select forebay.put_schedule(
    cast($1 as text), cast($2 as text), cast($3 as text), cast($4 as text), cast($5 as text),
    cast(cast($6 as text) as jsonb), cast($7 as int), cast($8 as timestamptz),
    cast($9 as boolean), cast($10 as float8), cast($11 as boolean), cast($12 as text))
