-- The usage of owners, the largest first: files, and the bytes of their contents; shared contents count once.
select o.name as owner, sum(c.files)::bigint as files, sum(b.size)::bigint as bytes
from (select f.owner_id, f.sha256, count(*) as files from forebay.file f group by f.owner_id, f.sha256) c
join forebay.blob b on b.sha256 = c.sha256
join forebay.owner o on o.id = c.owner_id
group by o.name
order by bytes desc, o.name
