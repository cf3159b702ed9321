-- What job $1 says about why its tasks wait.
select j.id, j.owner_id, j.pipeline_id, p.name as pipeline, j.state::text as state, j.sealed, j.priority, j.total,
       j.total - j.done - j.skipped - j.not_found - j.error as open_items, j.finished_at is not null as is_over,
       coalesce(j.version_id, -j.pipeline_id) as version_id, coalesce(v.id = p.version_id, true) as is_present, v.unserved_since,
       (select count(*) from forebay.pipeline_version b where b.pipeline_id = v.pipeline_id and b.id <= v.id) as version,
       o.weight
from forebay.job j
join forebay.pipeline p on p.id = j.pipeline_id
join forebay.owner o on o.id = j.owner_id
left join forebay.pipeline_version v on v.id = coalesce(j.version_id, -j.pipeline_id)
where j.id = $1
