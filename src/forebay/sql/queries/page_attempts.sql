-- Attempts, newest first, before ($6, $7, $8); filters may be null: job, item, step, outcome, worker ($9), owner ($10).
select a.job_id, a.n, p.name as pipeline, s.name as step, a.attempt, a.outcome::text as outcome, o.name as owner,
       coalesce(w.name, '') as worker, a.started_at, a.ended_at, a.class as error_class, a.reason, a.token
from forebay.attempt a
join forebay.step s on s.id = a.step_id
join forebay.pipeline p on p.id = s.pipeline_id
join forebay.owner o on o.id = a.owner_id
left join forebay.worker w on w.id = a.worker_id
where ($1::bigint is null or a.job_id = $1) and ($2::int is null or a.n = $2) and ($3::text is null or s.name = $3)
  and ($4::forebay.outcome is null or a.outcome = $4)
  and ($9::text is null or w.name = $9) and ($10::bigint is null or a.owner_id = $10)
  and ($6::timestamptz is null or (a.ended_at, a.token, a.n) < ($6, $7::bigint, $8::int))
order by a.ended_at desc, a.token desc, a.n desc
limit $5
