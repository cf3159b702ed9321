-- How many files are in each state, of owner $1 or of all: at most 100,000 of each are counted, by owner, as the index has them.
select s.status, (select count(*) from (
    select from forebay.owner o
    cross join lateral (select from forebay.attachment a where a.owner_id = o.id and a.status = s.status limit 100000) f
    where $1::bigint is null or o.id = $1
    limit 100000) few) as files
from unnest(array['PENDING', 'DOWNLOADED', 'FAILED']) as s(status)
