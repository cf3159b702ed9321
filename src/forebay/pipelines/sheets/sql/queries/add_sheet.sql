-- Opens the job of a file's rows, for an owner; an own transaction says who asks.
select s.id, s.job_id, s.created
from forebay.add_sheet($1, $2, $3, $4::jsonb, $5, $6, $7, $8, $9, $10::jsonb, $11) s
