-- Why the reading of a file does not go on for now.
update forebay.sheet s set problem = $2 where s.id = $1
