-- All rows of a file are read, or it was found that they cannot be; which is kept when the same is told once more.
update forebay.sheet s set read_at = clock_timestamp(), problem = coalesce($2, s.problem) where s.id = $1
