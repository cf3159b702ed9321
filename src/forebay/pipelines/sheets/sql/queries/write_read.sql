-- Records that all rows of a file were read, or why they cannot be; a repetition changes nothing.
update forebay.sheet s set read_at = clock_timestamp(), problem = coalesce($2, s.problem) where s.id = $1
