-- The time, and which transactions are under way that have written something: none is older than `oldest`, or as new as `coming`.
select clock_timestamp() as at, pg_snapshot_xmin(s)::text::bigint as oldest, pg_snapshot_xmax(s)::text::bigint as coming
from pg_current_snapshot() s
