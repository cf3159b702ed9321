-- Drops idle limits.
select forebay.tidy_limits(now => $1)
