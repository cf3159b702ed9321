-- Whether no worker holds the lock of the leader: takes it for this statement only.
select pg_try_advisory_xact_lock(hashtextextended('forebay.leader', 4662))
