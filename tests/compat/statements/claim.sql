-- Claims tasks for a worker.
select * from forebay.claim_tasks($1, $2, $3, $4, $5, $6, $7, $8, $9)
