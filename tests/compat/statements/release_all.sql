-- Releases all leases of a worker.
select forebay.release($1, array(select l.token from forebay.lease l where l.worker_id = $1), $2)
