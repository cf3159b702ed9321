-- Makes due scheduled tasks ready.
select p.*, coalesce($1, clock_timestamp()) as at
from forebay.promote($1, after => coalesce($2::timestamptz, '-infinity')) p
