-- A piece of an upload is in the store; counts unless another has come in its place. The sheet is locked by now.
update forebay.sheet_piece p set size = $4 from forebay.sheet s
where s.id = $1 and s.intake_job_id is null
  and p.sheet_id = s.id and p.start = $2 and p.name = $3::uuid and p.start = forebay.received($1)
returning p.start
