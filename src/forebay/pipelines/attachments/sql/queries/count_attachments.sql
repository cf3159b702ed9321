-- How many files are in each state, of owner $1 or of all: at most 100,000 of each are counted.
select s.status, (select count(*) from (
    select from forebay.attachment a where a.status = s.status and ($1::bigint is null or a.owner_id = $1) limit 100000) few) as files
from unnest(array['PENDING', 'DOWNLOADED', 'FAILED']) as s(status)
