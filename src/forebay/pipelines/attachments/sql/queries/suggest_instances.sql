-- The newest instances of owner $1 with text $2 in their title or key: at most $3 of the newest 2,000.
select r.id, r.title, r.key, r.job_id, r.created_at, strpos(lower(coalesce(r.title, r.key)), lower($2)) as place
from (select i.* from forebay.attachment_instance i where i.owner_id = $1 order by i.id desc limit 2000) r
where strpos(lower(coalesce(r.title, '')), lower($2)) > 0 or strpos(lower(r.key), lower($2)) > 0
order by r.id desc
limit $3
