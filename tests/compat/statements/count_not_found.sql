-- How often a task (job $1, n $2, step name $3) with $4 attempts ended with NOT_FOUND since its first attempt; 0 if the last
-- attempt did, because then the task is being reprocessed (which may or may not count attempts from 1 again).
select case when max(a.attempt) >= $4::int then 0 else count(*)::int end
from forebay.attempt a join forebay.step s on s.id = a.step_id
where a.job_id = $1 and a.n = $2 and s.name = $3 and a.outcome = 'NOT_FOUND'
  and a.token >= (
      select max(f.token) from forebay.attempt f
      where f.job_id = $1 and f.n = $2 and f.step_id = a.step_id and f.attempt = 1)
