-- Lets the leases $2 of worker $1 expire now: the next sweep returns their tasks to the queue.
update forebay.lease l set expires_at = coalesce($3, clock_timestamp())
where l.token = any(array(select h.token from forebay.lease h where h.token = any($2) and h.worker_id = $1
                          order by h.token for update))
