-- All rows of a file are read, or it was found that they cannot be.
update forebay.sheet s set read_at = clock_timestamp(), problem = $2 where s.id = $1
