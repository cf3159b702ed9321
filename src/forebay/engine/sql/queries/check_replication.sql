-- The physical standbys that are connected, and whether a commit waits until one of them has it.
select count(*) as standbys,
       current_setting('synchronous_standby_names') <> ''
       and current_setting('synchronous_commit') not in ('off', 'local') as is_confirmed
from pg_stat_replication
