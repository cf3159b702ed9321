-- after the routines: those of before need it.
drop index forebay.job_key;
