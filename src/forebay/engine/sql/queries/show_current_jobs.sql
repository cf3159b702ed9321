-- The jobs in progress or next, and the newest ones. Found through the hot tables and looked up one by one (offset 0), so
-- that the cost does not depend on the history.
with wanted as materialized (
    (select l.job_id as id from forebay.lease l group by l.job_id order by count(*) desc limit 20)
    union (select r.job_id from forebay.ready_lanes() r limit 20)
    union (select n.id from forebay.job n order by n.id desc limit cast($1 as int))
)
select j.id, j.pipeline, j.owner, cast(j.state as text) as state, j.priority, j.key, j.total, j.done, j.skipped, j.not_found, j.error,
       j.created_at, j.started_at, j.finished_at, j.eta, j.heartbeat_at, cast(j.last_error as text) as last_error
from wanted w cross join lateral (select * from forebay.jobs v where v.id = w.id offset 0) j
order by j.finished_at is not null, j.id desc
limit cast($1 as int)
