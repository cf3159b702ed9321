-- Why the latest attempt of a job failed; none if the job is done, because a later attempt succeeded.
select j.last_error ->> 'reason' from forebay.jobs j where j.id = cast($1 as bigint) and j.state <> 'DONE'
