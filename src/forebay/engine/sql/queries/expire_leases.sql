-- Expires leases; returns how many tasks became ready.
select e.requeued from forebay.expire() e
