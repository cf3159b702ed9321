-- Reads those of the rows $2 of the grid of job $1 that have the text $4 in a cell, at most $5; with the groups of columns $3.
select r.n, r.status, r.cells from forebay.search_grid($1, $2::int[], $3::text[], $4::text, $5::int) r order by r.n
