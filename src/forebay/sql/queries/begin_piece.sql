-- A piece of an upload is about to come; tells the name of its object.
insert into forebay.sheet_piece (sheet_id, owner_id, start)
select s.id, s.owner_id, $2 from forebay.sheet s where s.id = $1 and s.intake_job_id is null
returning name::text
