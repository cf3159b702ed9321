-- Locks a schedule; returns its cron expression, its time zone and whether it is paused.
select s.cron, s.timezone, s.paused from forebay.schedule s where s.name = cast($1 as text) for update
