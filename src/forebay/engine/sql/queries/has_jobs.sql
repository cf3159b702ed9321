-- Whether there is any job.
select exists (select from forebay.job)
