-- Stores and starts the children of a task, in the transaction that settles it.
select forebay.map_inputs($1, $2, $3, $4, cast(cast($5 as text[]) as jsonb[]), $6, $7)
