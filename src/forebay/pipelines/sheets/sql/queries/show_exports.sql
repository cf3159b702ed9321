-- Lists the exports $1, newest first: their options, progress, and file once it exists.
select e.job_id, s.job_id as sheet_job_id, e.format, e.options::text as options, e.rows, e.file_id, e.created_at, e.written_at,
       j.state::text as state, b.size as bytes,
       (i.progress ->> 'fraction')::float8 as fraction, i.error ->> 'reason' as error, (i.result #>> '{write,cut}')::bigint as cut
from forebay.sheet_export e
join forebay.sheet s on s.id = e.sheet_id
left join forebay.job j on j.id = e.job_id
left join forebay.item i on i.job_id = e.job_id and i.n = 1
left join forebay.file f on f.id = e.file_id
left join forebay.blob b on b.sha256 = f.sha256
where e.job_id = any($1::bigint[])
order by e.job_id desc
