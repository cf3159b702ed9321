-- A file that comes in, with how many of its bytes have come.
select f.target, f.reference, f.owner_id, f.job_id, f.intake_job_id, f.name, f.size, f.options::text as options, f.source, f.path,
       f.version, f.file_id, f.problem, f.created_at, f.received_at,
       case when f.received_at is null then forebay.received_bytes(f.target, f.reference) else f.size end as received
from forebay.intake_file f where f.target = $1 and f.reference = $2
