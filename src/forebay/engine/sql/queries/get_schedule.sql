-- What a schedule says about its times.
select s.cron, s.timezone, s.paused from forebay.schedule s where s.name = cast($1 as text) for update
