-- What the keys of limits may depend on, besides the inputs: the owners and meta of these jobs.
select j.id, j.owner_id, o.name as owner, j.meta::text as meta
from forebay.job j join forebay.owner o on o.id = j.owner_id where j.id = any($1::bigint[])
