-- Whether job $1 was created from a sheet.
select exists (select from forebay.sheet s where s.job_id = $1)
