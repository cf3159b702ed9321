-- Makes failed files pending again, of instance $1, or only file $2; returns the instances with the number of files.
with retried as (
    update forebay.attachment a set status = 'PENDING', error = null
    where a.status = 'FAILED' and ($1::bigint is null or a.instance_id = $1) and ($2::bigint is null or a.id = $2)
    returning a.instance_id, a.owner_id)
select r.instance_id, o.name as owner, count(*)::int as files
from retried r join forebay.owner o on o.id = r.owner_id
group by r.instance_id, o.name
order by r.instance_id
