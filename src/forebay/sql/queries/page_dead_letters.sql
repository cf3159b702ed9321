-- Tasks that failed for good, newest first, before ($1, $2, $3); filters may be null: owner, pipeline, job, class.
select d.at, d.job_id, d.n, p.name as pipeline, s.name as step, o.name as owner, d.outcome::text as outcome,
       d.class as error_class, d.reason, d.attempt
from forebay.dead_letter d
join forebay.step s on s.id = d.step_id
join forebay.pipeline p on p.id = s.pipeline_id
join forebay.owner o on o.id = d.owner_id
where ($1::timestamptz is null or (d.at, d.job_id, d.n) < ($1, $2::bigint, $3::int))
  and ($4::bigint is null or d.owner_id = $4) and ($5::text is null or p.name = $5)
  and ($6::bigint is null or d.job_id = $6) and ($7::text is null or d.class = $7)
order by d.at desc, d.job_id desc, d.n desc
limit $8
