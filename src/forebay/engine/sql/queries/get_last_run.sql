-- The job of the last run of a schedule.
select s.last_job_id from forebay.schedule s where s.name = cast($1 as text)
