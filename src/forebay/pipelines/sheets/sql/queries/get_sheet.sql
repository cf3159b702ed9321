-- A sheet, by its number or by its job; a worker needs the time to know whether it may have changed since.
select s.id, s.owner_id, s.job_id, s.intake_job_id, s.name, s.source, s.path, s.version, s.size, s.options::text as options,
       s.file_id, s.kind, s.layout::text as layout, s.columns, s.mapping::text as mapping, s.suggestions::text as suggestions,
       s.providers, s.turn, s.problem, s.created_at, s.received_at, s.read_at,
       case when s.received_at is null then forebay.received(s.id) else s.size end as received,
       (extract(epoch from clock_timestamp()) * 1000)::bigint as now_ms
from forebay.sheet s where case when $1::bigint is null then s.job_id = $2 else s.id = $1 end
