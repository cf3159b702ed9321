-- Submits a new job for share $1; null if the caller may not see it.
select forebay.retry_share($1)
