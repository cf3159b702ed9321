-- The time, and the range of transactions in progress that have written something: none is older than `oldest`, and none is
-- newer than `coming`. A snapshot does not provide the latter, so this takes a transaction id, without waiting for the disk.
select clock_timestamp() as at, pg_snapshot_xmin(s)::text::bigint as oldest, pg_current_xact_id()::text::bigint as coming
from pg_current_snapshot() s, set_config('synchronous_commit', 'off', true)
