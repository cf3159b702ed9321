-- Reads the columns of the grid of job $1 with the groups $2: keys, names, kinds and types; and the number of its last item.
select d.keys, d.names, d.kinds, d.types, coalesce((select j.total from forebay.job j where j.id = $1), 0) as total
from forebay.grid_details($1, $2::text[]) d
