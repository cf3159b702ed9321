-- Closes items of cancelled jobs.
select forebay.reap_cancelled($1)
