-- When the next scheduled task is due.
select min(run_at) from forebay.scheduled where run_at < 'infinity'
