-- Takes the lock of the leader for this session, which ends when it is silent for $1; returns whether it was free.
select set_config('idle_session_timeout', $1, false) is not null
       and set_config('idle_in_transaction_session_timeout', $1, false) is not null
       and pg_try_advisory_lock(hashtextextended('forebay.leader', 4662))
