-- Marks the job of a stream as complete.
select cast(forebay.seal(cast($1 as bigint), cast($2 as bigint)) as text)
