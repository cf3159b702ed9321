-- Deletes the rows of the targets $1, with the files that they have stored; returns the parts of uploads, whose objects are left.
with taken as (
    delete from forebay.intake_taken k where k.target = any($1::text[])
), part as (
    delete from forebay.intake_part p where p.target = any($1::text[]) returning p.reference, p.name
), incoming as (
    delete from forebay.intake_file f where f.target = any($1::text[]) returning f.file_id
), stored as (
    delete from forebay.file f using incoming i where f.id = i.file_id
)
select p.reference, p.name::text as name from part p
