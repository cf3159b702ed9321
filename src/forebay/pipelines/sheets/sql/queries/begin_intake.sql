-- Submits the reading of a file that has come whole, or is to be fetched; now, or after $3 seconds.
select forebay.begin_intake($1, $2, clock_timestamp() + make_interval(secs => $3))
