-- Whether job $1 is made of a sheet.
select exists (select from forebay.sheet s where s.job_id = $1)
