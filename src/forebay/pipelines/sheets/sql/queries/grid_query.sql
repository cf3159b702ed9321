-- Builds the statement for the rows $3 … $4 of the grid of job $1 in form $2, with one of the statuses $5 and the groups of
-- columns $6.
select forebay.grid_query($1, $2::text, $3::int, $4::int, $5::text[]::forebay.item_status[], $6::text[])
