-- The version of the server, the number of connections for ordinary users, whether it is read-only, and its time.
select current_setting('server_version') as version, cast(current_setting('server_version_num') as int) / 10000 as major,
       cast(current_setting('max_connections') as int) - cast(current_setting('superuser_reserved_connections') as int) as connections,
       pg_is_in_recovery() as read_only, clock_timestamp() as now
