-- An attempt to sign in that was no guess does not count for these keys. They were not blocked before it: what blocks them
-- now is that attempt.
update forebay.sign_in_failure set failures = greatest(failures - 1, 0), blocked_until = '-infinity' where key = any($1)
