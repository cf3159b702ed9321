-- A job for a stream, with the columns of open_stream.
select j.id, false, j.owner_id, j.pipeline_id, j.total, j.loaded, j.sealed
from forebay.job j where j.id = cast($1 as bigint)
