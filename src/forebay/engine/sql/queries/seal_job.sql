-- Says that no more items come to a stream's job.
select cast(forebay.seal(cast($1 as bigint), cast($2 as bigint)) as text)
