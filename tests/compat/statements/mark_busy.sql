-- Sets for how long lanes need no wake-ups.
select forebay.mark_busy($1, coalesce($3::timestamptz, clock_timestamp()) + make_interval(secs => $2))
