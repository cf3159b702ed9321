-- What owners store, by kind, as last counted: the $1 owners that store the most, or those with the ids $2.
select o.name as owner, u.owner_id, u.kind, u.files, u.bytes
from (
    select s.owner_id, sum(s.bytes) as bytes from forebay.storage_usage s
    where $2::bigint[] is null or s.owner_id = any($2)
    group by s.owner_id order by 2 desc, 1 limit $1
) t
join forebay.storage_usage u on u.owner_id = t.owner_id
join forebay.owner o on o.id = t.owner_id
order by t.bytes desc, t.owner_id, u.bytes desc, u.kind
