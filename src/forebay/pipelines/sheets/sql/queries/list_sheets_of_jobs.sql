-- The sheets that jobs $1 are about, with the jobs of their rows: as $2 says, they process the rows, receive the file or export it.
select k.id as job_id, s.job_id as sheet_job_id, s.name
from unnest($1::bigint[]) k(id)
cross join lateral (
    (select s.id from forebay.sheet s where $2::text = 'rows' and s.job_id = k.id limit 1)
    union all
    (select (i.input ->> 'reference')::bigint from forebay.item i where $2 = 'receiving' and i.job_id = k.id and i.n = 1 limit 1)
    union all
    (select e.sheet_id from forebay.sheet_export e where $2 = 'export' and e.job_id = k.id limit 1)) a(sheet_id)
cross join lateral (select s.job_id, s.name from forebay.sheet s where s.id = a.sheet_id limit 1) s
