-- When a file of owner $1, or of any, was last tried; the newest error; and since when a file is pending.
select max(t.last_attempt_at) as last_attempt_at,
       (array_agg(e.error order by e.last_attempt_at desc) filter (where e.error is not null))[1] as last_error,
       min(p.created_at) as oldest_pending_at
from forebay.owner o
left join lateral (select a.last_attempt_at from forebay.attachment a
                   where a.owner_id = o.id and a.last_attempt_at is not null order by a.last_attempt_at desc limit 1) t on true
left join lateral (select a.error, a.last_attempt_at from forebay.attachment a
                   where a.owner_id = o.id and a.error is not null order by a.last_attempt_at desc limit 1) e on true
left join lateral (select a.created_at from forebay.attachment a
                   where a.owner_id = o.id and a.status = 'PENDING' order by a.id limit 1) p on true
where $1::bigint is null or o.id = $1
