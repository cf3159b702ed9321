-- The saved searches of owner $1.
select s.id, s.name, s.question, s.token_hash is not null as has_feed, s.created_at
from forebay.saved_search s where s.owner_id = $1 order by s.name
