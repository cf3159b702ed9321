-- Gives worker $1 the slots of limits that the workers $2 have, for the time that is left of them.
with taken as (
    delete from forebay.slot_lease l where l.worker_id = any($2) returning l.name, l.key, l.slots, l.wanted, l.expires_at
)
insert into forebay.slot_lease as mine (name, key, worker_id, slots, wanted, expires_at)
select t.name, t.key, $1, sum(t.slots), sum(t.wanted), max(t.expires_at)
from taken t group by t.name, t.key order by t.name collate "C", t.key collate "C"
on conflict (name, key, worker_id) do update
set slots = mine.slots + excluded.slots, wanted = mine.wanted + excluded.wanted,
    expires_at = greatest(mine.expires_at, excluded.expires_at)
