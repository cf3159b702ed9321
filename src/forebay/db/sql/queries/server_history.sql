-- Which cluster this server belongs to, and the timeline that it writes; null on a standby.
select (select system_identifier::text from pg_control_system()) as system,
       case when not pg_is_in_recovery()
            then ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::int end as timeline
