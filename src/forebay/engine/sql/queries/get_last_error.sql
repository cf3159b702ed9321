-- Why the latest attempt of a job failed; none once the job is done, as the attempt was repeated.
select j.last_error ->> 'reason' from forebay.jobs j where j.id = cast($1 as bigint) and j.state <> 'DONE'
