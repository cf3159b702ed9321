-- Files in state $1 after id $2 that the caller may see, in the order of creation: at most $3. Those of owner $4, or of all: by
-- owner, as the index has them, so that no plan reads files in other states.
select a.id, a.instance_id, a.name, a.status, a.attempts, a.error, a.size, encode(a.sha256, 'hex') as sha256, a.media_type,
       a.file_id, a.job_id, a.n, a.created_at, a.last_attempt_at, a.downloaded_at, a.removed_at,
       case when a.status = 'PENDING' then (
           select nullif(min(r.run_at), 'infinity') from forebay.scheduled r
           where r.job_id = a.job_id and r.first_n <= a.n and r.last_n >= a.n) end as next_retry_at
from (select f.*
      from forebay.owner o
      cross join lateral (select * from forebay.attachment f
                          where f.owner_id = o.id and f.status = $1 and f.id > $2 order by f.id limit $3) f
      where $4::bigint is null or o.id = $4
      order by f.id
      limit $3) a
order by a.id
