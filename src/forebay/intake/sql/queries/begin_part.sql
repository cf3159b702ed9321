-- A part of an upload is about to come; returns the name of its object. What is complete or given up takes no more.
insert into forebay.intake_part (target, reference, owner_id, start)
select f.target, f.reference, f.owner_id, $3 from forebay.intake_file f join forebay.job j on j.id = f.job_id
where f.target = $1 and f.reference = $2 and f.intake_job_id is null and j.state <> 'CANCELLED'
returning name::text
