-- Submits the job that receives a file which has come whole, or is to be fetched; now, or after $5 seconds.
select forebay.begin_receiving($1, $2, $3, $4, clock_timestamp() + make_interval(secs => $5))
