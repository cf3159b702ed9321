-- Submits a job of schedule $1 now, for $2.
select r.job_id, r.created from forebay.run_schedule_now(cast($1 as text), cast($2 as text), cast($3 as timestamptz)) r
