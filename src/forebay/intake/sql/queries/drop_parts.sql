-- The parts of an upload are not needed any more once the file is stored; returns their names.
delete from forebay.intake_part p using forebay.intake_file f
where f.target = $1 and f.reference = $2 and p.target = f.target and p.reference = f.reference and f.file_id is not null
returning p.name::text
