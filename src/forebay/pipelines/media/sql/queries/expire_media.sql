-- Removes files that are older than $1, or exceed the quota of $2 bytes of their owner, at most $3; returns how many.
select forebay.expire_media($1, $2, $3)
