-- A job that items are streamed to, as open_stream tells of it.
select j.id, false, j.owner_id, j.pipeline_id, j.total, j.loaded, j.sealed
from forebay.job j where j.id = cast($1 as bigint)
