-- The names of the pipelines of jobs $1.
select distinct p.name from forebay.job j join forebay.pipeline p on p.id = j.pipeline_id where j.id = any($1::bigint[])
