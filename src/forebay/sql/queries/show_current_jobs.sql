-- The jobs that are being worked on or come next, and the newest ones. Found by the hot tables: history costs nothing.
select j.id, j.pipeline, j.owner, cast(j.state as text) as state, j.priority, j.key, j.total, j.done, j.skipped, j.not_found, j.error,
       j.created_at, j.started_at, j.finished_at
from forebay.jobs j
where j.id in (
    (select l.job_id from forebay.lease l group by l.job_id order by count(*) desc limit 20)
    union (select r.job_id from forebay.ready_lanes() r limit 20)
    union (select n.id from forebay.job n order by n.id desc limit cast($1 as int)))
order by j.finished_at is not null, j.id desc
limit cast($1 as int)
