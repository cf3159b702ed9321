-- Takes a delivery in one statement; see the function.
select is_new, instance_id, job_id
from forebay.receive_attachments($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
