-- The jobs in progress or next, and the newest ones: at most $1, the unfinished first. Found through the hot tables, so that the
-- cost does not depend on the history.
with wanted as materialized (
    (select l.job_id as id from forebay.lease l group by l.job_id order by count(*) desc limit 20)
    union (select r.job_id from forebay.ready_lanes() r limit 20)
    union (select n.id from forebay.job n order by n.id desc limit $1::int)
)
select j.id from wanted w join forebay.job j on j.id = w.id
order by j.finished_at is not null, j.id desc
limit $1::int
