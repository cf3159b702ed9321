-- A page of dead letters, newest first, and the start of the next page; see find_dead_letters.
select d.at, d.job_id, d.n, p.name as pipeline, s.name as step, o.name as owner, d.outcome::text as outcome,
       d.class as error_class, d.reason, d.attempt, d.step_id, f.next_at, f.next_job, f.next_n, f.next_step
from forebay.find_dead_letters($1, $2, $3, $4, $5, $6, $7, $8, $9, with_step => $10, with_reason => $11) f
left join lateral unnest(f.letters) with ordinality as d on true
left join forebay.step s on s.id = d.step_id
left join forebay.pipeline p on p.id = s.pipeline_id
left join forebay.owner o on o.id = d.owner_id
order by d.ordinality
