-- A page of attempts, newest first, and the start of the next page; see search_attempts.
select a.job_id, a.n, p.name as pipeline, s.name as step, a.attempt, a.outcome::text as outcome, o.name as owner,
       coalesce(w.name, '') as worker, a.started_at, a.ended_at, a.class as error_class, a.reason, a.token,
       f.next_at, f.next_token, f.next_n
from forebay.search_attempts($1, $2, $3, $4, $5::forebay.outcome, $6, $7, $8, $9, $10, $11, $12, $13) f
left join lateral unnest(f.attempts) with ordinality as a on true
left join forebay.step s on s.id = a.step_id
left join forebay.pipeline p on p.id = s.pipeline_id
left join forebay.owner o on o.id = a.owner_id
left join forebay.worker w on w.id = a.worker_id
order by a.ordinality
