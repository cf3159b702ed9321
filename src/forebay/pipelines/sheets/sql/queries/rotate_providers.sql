-- Makes a reprocess of a sheet start with the next provider.
update forebay.sheet s set turn = s.turn + 1 where s.job_id = $1
