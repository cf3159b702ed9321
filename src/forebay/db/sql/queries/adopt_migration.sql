-- Records that migration $2 of part $1, named $3, was applied as number $4 of the single numbering, if it was.
insert into forebay.migration (part, version, name, applied_at)
select $1, $2, $3, f.applied_at from forebay.migration f where f.part is null and f.version = $4
