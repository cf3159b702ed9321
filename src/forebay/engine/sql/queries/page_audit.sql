-- Audit records, newest first, before id $1, optionally of one owner or job.
select a.id, a.at, a.actor, a.action, o.name as owner, a.job_id, a.n, a.detail::text as detail
from forebay.audit a left join forebay.owner o on o.id = a.owner_id
where a.id < coalesce($1, 9223372036854775807) and ($2::bigint is null or a.owner_id = $2)
  and ($3::bigint is null or a.job_id = $3)
order by a.id desc
limit $4
