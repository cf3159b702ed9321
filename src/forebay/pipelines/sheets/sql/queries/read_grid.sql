-- Reads the rows $2 of the grid of job $1, with the groups of columns $3.
select r.n, r.status, r.cells from forebay.grid_rows($1, $2::int[], $3::text[]) r order by r.n
