-- Parks a queue.
select forebay.park_queue($1, $2, coalesce($4::timestamptz, clock_timestamp()) + make_interval(secs => $3), now => $4)
