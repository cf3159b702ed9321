-- Records why reading a file is delayed.
update forebay.sheet s set problem = $2 where s.id = $1
