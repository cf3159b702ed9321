-- Audit records, newest first, and the start of the next page; see find_audit.
select a.id, a.at, a.actor, a.action, o.name as owner, a.job_id, a.n, a.detail::text as detail, f.next_before, f.looked_at, f.looked_to
from forebay.find_audit($1, $2, $3, $4, $5, $6, $7, $8) f
left join lateral unnest(f.ids) with ordinality k(id, place) on true
left join forebay.audit a on a.id = k.id
left join forebay.owner o on o.id = a.owner_id
order by k.place
