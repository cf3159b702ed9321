-- A part of an upload is in the store; counts unless another has come in its place. The file is locked by now.
update forebay.intake_part p set size = $5, sha256 = $6 from forebay.intake_file f
where f.target = $1 and f.reference = $2 and f.intake_job_id is null
  and p.target = f.target and p.reference = f.reference and p.start = $3 and p.name = $4::uuid
  and p.start = forebay.received_bytes($1, $2)
returning p.start
