-- A piece of an upload is about to come; tells the name of its object. What is complete or given up takes no more.
insert into forebay.sheet_piece (sheet_id, owner_id, start)
select s.id, s.owner_id, $2 from forebay.sheet s join forebay.job j on j.id = s.job_id
where s.id = $1 and s.intake_job_id is null and j.state <> 'CANCELLED'
returning name::text
