-- Makes the version with the number $2 the present one of the pipeline named $1. Returns whether there is one.
select forebay.use_version(v.pipeline_id, v.id) is not null as is_used
from (select v.*, row_number() over (order by v.id) as number
      from forebay.pipeline_version v join forebay.pipeline p on p.id = v.pipeline_id where p.name = $1) v
where v.number = $2
