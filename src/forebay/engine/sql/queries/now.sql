-- The time, and which transactions are under way that have written something: none is older than `oldest`, and none is newer
-- than `coming`. A snapshot alone does not tell the latter: so this takes a number itself, and need not wait for the disk.
select clock_timestamp() as at, pg_snapshot_xmin(s)::text::bigint as oldest, pg_current_xact_id()::text::bigint as coming
from pg_current_snapshot() s, set_config('synchronous_commit', 'off', true)
