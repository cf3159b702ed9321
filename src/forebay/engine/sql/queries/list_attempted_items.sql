-- Attempts of jobs $1 that ended after $2: their items, newest first, at most $3 per job.
select a.job_id, a.n, a.owner_id, a.token, a.ended_at as at
from unnest($1::bigint[]) with ordinality k(job_id, place)
cross join lateral (
    select t.job_id, t.n, t.owner_id, t.token, t.ended_at from forebay.attempt t
    where t.job_id = k.job_id and t.ended_at > $2::timestamptz and t.n > 0
    order by t.ended_at desc, t.n limit $3) a
order by k.place, a.ended_at desc
