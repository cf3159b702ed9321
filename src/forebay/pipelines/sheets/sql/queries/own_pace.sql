-- How many rows the step $2 has ended in how many minutes, of the last job of the owner and pipeline of job $1 that has ended rows.
-- At most 1,000 jobs and 10,000 attempts are read.
with like_it as materialized (
    select j.id, j.pipeline_id, j.done + j.skipped + j.not_found as ended
    from forebay.job j where j.owner_id = (select m.owner_id from forebay.job m where m.id = $1) order by j.id desc limit 1000
),
last as (
    select l.id from like_it l
    where l.ended > 0 and l.pipeline_id = (select m.pipeline_id from forebay.job m where m.id = $1) order by l.id desc limit 1
),
attempts as (
    select a.outcome, date_trunc('minute', a.ended_at) as minute
    from last l join forebay.attempt a on a.job_id = l.id join forebay.step s on s.id = a.step_id
    where s.name = $2 and a.outcome in ('DONE', 'SKIPPED', 'NOT_FOUND') limit 10000
)
select count(*) filter (where a.outcome <> 'NOT_FOUND') as ended, count(*) filter (where a.outcome = 'NOT_FOUND') as not_found,
       count(distinct a.minute) as minutes
from attempts a
