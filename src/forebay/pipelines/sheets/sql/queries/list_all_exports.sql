-- Lists the exports that the caller may see before $1, newest first.
select e.job_id from forebay.sheet_export e
where e.job_id < coalesce($1::bigint, 9223372036854775807)
order by e.job_id desc limit $2
