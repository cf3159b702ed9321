-- The shares that jobs $1 are about, with their titles.
select s.job_id, s.id as share_id, coalesce(s.title, s.url) as title, s.playlist_id,
       (select p.job_id from forebay.share p where p.id = s.playlist_id) as parent_id
from forebay.share s where s.job_id = any($1::bigint[]) and (s.item_n = 1)
