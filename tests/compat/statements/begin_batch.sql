-- Begins a batch of a stream and locks its job; returns the number of items so far and which of the keys exist.
select b.total, b.taken
from forebay.begin_batch(cast($1 as bigint), cast($2 as bigint), cast($3 as text[])) b
