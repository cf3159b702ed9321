-- Sheets that were not replaced, the newest first, with the counters of their jobs.
select s.id, s.job_id, f.intake_job_id, s.name, f.source, f.size, s.kind, coalesce(s.problem, f.problem) as problem, s.created_at,
       f.received_at, s.read_at, j.state::text as state, j.total, j.done, j.skipped, j.not_found, j.error, j.sealed,
       case when f.received_at is null then forebay.received_bytes('sheets', s.id) else f.size end as received
from forebay.sheet s
left join forebay.intake_file f on f.target = 'sheets' and f.reference = s.id
left join forebay.job j on j.id = s.job_id
where s.replaced_by is null and ($1::bigint is null or s.owner_id = $1) and ($2::bigint is null or s.id < $2)
order by s.id desc limit $3
