-- The rows $2 of the grid of job $1.
select r.n, r.status, r.cells from forebay.grid_rows($1, $2::int[]) r order by r.n
