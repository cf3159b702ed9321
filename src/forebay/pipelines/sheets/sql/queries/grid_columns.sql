-- Reads the columns of the grid of job $1 with the groups $2, its owner, and the number of its last item.
select c.names, c.types, s.owner_id, coalesce((select j.total from forebay.job j where j.id = $1), 0) as total
from forebay.grid_columns($1, $2::text[]) c join forebay.sheet s on s.job_id = $1
