-- The last attempt of a task: item $2 of job $1, the step with bit $3.
select a.outcome::text as outcome, a.class as error_class, a.reason, a.attempt, a.ended_at
from forebay.item i
cross join lateral (
    select a.* from forebay.attempt a join forebay.step s on s.id = a.step_id
    where a.job_id = i.job_id and a.n = i.n and a.ended_at >= i.created_at and s.bit = $3
    order by a.ended_at desc, a.token desc limit 1) a
where i.job_id = $1 and i.n = $2
