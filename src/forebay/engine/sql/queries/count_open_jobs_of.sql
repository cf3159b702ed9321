-- The jobs of the pipelines $1 that have not finished, by pipeline.
select p.name, count(*) as jobs
from forebay.job j join forebay.pipeline p on p.id = j.pipeline_id
where j.finished_at is null and p.name = any(cast($1 as text[]))
group by p.name order by p.name
