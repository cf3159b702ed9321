-- Locks the schedule that has been due for the longest time and is not locked by another session.
select s.name, s.cron, s.timezone, coalesce(cast($1 as timestamptz), clock_timestamp()) as now
from forebay.schedule s
where not s.paused and s.next_at <= coalesce(cast($1 as timestamptz), clock_timestamp())
order by s.next_at
limit 1
for update skip locked
