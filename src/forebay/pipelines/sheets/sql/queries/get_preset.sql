-- The mapping that the owner of the sheet of job $1 has used for these columns.
select p.mapping::text as mapping, p.providers, p.used_at
from forebay.sheet s
join forebay.sheet_preset p on p.owner_id = s.owner_id and p.fingerprint = forebay.column_fingerprint(s.columns)
where s.job_id = $1
