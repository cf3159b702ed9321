-- How the versions $1 call the steps that the versions $2 of the same pipelines call otherwise.
select s.version_id, s.name, k.name as known_name
from forebay.version_step s
join forebay.pipeline_version v on v.id = s.version_id
join forebay.pipeline_version w on w.pipeline_id = v.pipeline_id and w.id = any($2::int[])
join forebay.version_step k on k.version_id = w.id and k.bit = s.bit and k.name <> s.name
where s.version_id = any($1::int[])
