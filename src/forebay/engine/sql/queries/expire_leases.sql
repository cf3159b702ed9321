-- Takes back the leases that have run out; answers how many tasks can be claimed again.
select e.requeued from forebay.expire() e
