-- Lists exports of the sheet of job $1 before $2, newest first.
select e.job_id from forebay.sheet s join forebay.sheet_export e on e.sheet_id = s.id
where s.job_id = $1 and e.job_id < coalesce($2::bigint, 9223372036854775807)
order by e.job_id desc limit $3
