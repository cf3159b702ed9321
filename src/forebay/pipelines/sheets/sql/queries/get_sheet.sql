-- A sheet, by its number or by its job; a worker needs the time to know whether it may have changed since.
select s.id, s.owner_id, s.job_id, f.intake_job_id, s.name, f.source, f.path, f.size, s.options::text as options,
       f.file_id, s.kind, s.layout::text as layout, s.columns, s.mapping::text as mapping, s.suggestions::text as suggestions,
       s.providers, s.turn as rotation, coalesce(s.problem, f.problem) as problem, s.created_at, f.received_at, s.read_at,
       case when f.received_at is null then forebay.received_bytes('sheets', s.id) else f.size end as received,
       s.replaced_by, (extract(epoch from clock_timestamp()) * 1000)::bigint as now_ms
from forebay.sheet s
-- The offset keeps this a lookup by the whole key, also when the planner believes that there are few files.
left join lateral (select * from forebay.intake_file i where i.target = 'sheets' and i.reference = s.id offset 0) f on true
where s.id = coalesce($1::bigint, (select b.id from forebay.sheet b where b.job_id = $2))
