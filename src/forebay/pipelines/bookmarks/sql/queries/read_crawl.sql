-- Reads what a crawl needs of bookmark $1, its owner, and the name of owner $2.
select b.owner_id, o.name as owner, j.name as job_owner, b.url,
       -- Validators are sent only if nothing is missing: an unchanged page is not read again.
       case when b.favicon_id is not null and b.kind_reason is null then b.etag end as etag,
       case when b.favicon_id is not null and b.kind_reason is null then b.last_modified end as last_modified,
       coalesce(b.facts @> '{"unrendered": true}', false) as unrendered,
       b.body_hash
from forebay.bookmark b
join forebay.owner o on o.id = b.owner_id
join forebay.owner j on j.id = $2
where b.id = $1
