-- The cron expression and the time zone of a schedule.
select s.cron, s.timezone, s.paused from forebay.schedule s where s.name = cast($1 as text) for update
