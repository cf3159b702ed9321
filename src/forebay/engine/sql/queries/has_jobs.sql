-- Whether any job is known here.
select exists (select from forebay.job)
