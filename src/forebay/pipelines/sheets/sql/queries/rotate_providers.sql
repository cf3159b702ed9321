-- A sheet is reprocessed: others are asked first this time.
update forebay.sheet s set turn = s.turn + 1 where s.job_id = $1
