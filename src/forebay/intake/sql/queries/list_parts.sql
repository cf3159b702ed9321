-- The parts of an upload that came whole, in their order.
select p.start, p.size, p.name::text as name, p.sha256 from forebay.intake_part p
where p.target = $1 and p.reference = $2 and p.size is not null order by p.start, p.created_at
