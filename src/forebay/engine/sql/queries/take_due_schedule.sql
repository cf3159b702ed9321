-- Locks the schedule that has been due for the longest time and is not locked by another session. Those that back-fill come last:
-- they may have many missed runs, and the others do not wait for them.
select s.name, s.cron, s.timezone, coalesce(cast($1 as timestamptz), clock_timestamp()) as now,
       case when s.backfill then s.next_at end as due_at
from forebay.schedule s
where not s.paused and s.next_at <= coalesce(cast($1 as timestamptz), clock_timestamp())
order by s.backfill, s.next_at
limit 1
for update skip locked
