-- A part of an upload that did not come whole.
delete from forebay.intake_part p
where p.target = $1 and p.reference = $2 and p.start = $3 and p.name = $4::uuid and p.size is null
