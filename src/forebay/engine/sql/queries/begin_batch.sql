-- Begins a stream's batch, alone on its job; tells the number of items so far and the keys that they have already.
select b.total, b.taken
from forebay.begin_batch(cast($1 as bigint), cast($2 as bigint), cast($3 as text[])) b
