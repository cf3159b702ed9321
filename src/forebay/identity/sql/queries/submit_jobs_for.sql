-- Submits each of the inputs $2 as a job of pipeline $1, owner $3 and priority $4, for the owner with id $5, calling from
-- address $6, with the rights of role $7: one statement for all, as submit_item_for is for one.
select s.job_ids
from forebay.enter($7, $5, $6) a cross join lateral forebay.submit_jobs(
    $1, $2::text[]::jsonb[], case when $3::text = a.owner then a.owner end, priority => $4::int) s
