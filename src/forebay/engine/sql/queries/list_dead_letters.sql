-- The latest dead letters, of all jobs or of one.
select d.at, d.job_id, d.n, d.pipeline, d.step, d.owner, cast(d.outcome as text) as outcome, d.class, d.reason, d.attempt
from forebay.dead_letters d
where cast($1 as bigint) is null or d.job_id = $1
order by d.at desc, d.job_id desc, d.n desc
limit cast($2 as int)
