-- Files of instance $1 among $2 whose items have ended without a word fail, with reasons $3.
update forebay.attachment a set status = 'FAILED', error = f.reason
from unnest($2::bigint[], $3::text[]) as f(id, reason)
where a.id = f.id and a.instance_id = $1 and a.status = 'PENDING'
