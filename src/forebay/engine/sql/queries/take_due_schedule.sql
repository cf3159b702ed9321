-- Locks the schedule that is due for the longest time and that nobody else is running.
select s.name, s.cron, s.timezone, coalesce(cast($1 as timestamptz), clock_timestamp()) as now
from forebay.schedule s
where not s.paused and s.next_at <= coalesce(cast($1 as timestamptz), clock_timestamp())
order by s.next_at
limit 1
for update skip locked
