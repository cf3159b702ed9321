-- Removes the last sign-in attempt of these keys. They were not blocked before it, so any block comes from that attempt.
update forebay.sign_in_failure set failures = greatest(failures - 1, 0), blocked_until = '-infinity' where key = any($1)
