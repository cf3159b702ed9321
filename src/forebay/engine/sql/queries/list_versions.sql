-- The versions of pipelines: the present ones, and those that have open jobs or living workers. number: counted from 1.
with open as (
    select j.pipeline_id, coalesce(j.version_id, -j.pipeline_id) as version_id, count(*) as jobs
    from forebay.job j where j.finished_at is null group by 1, 2
),
alive as materialized (
    select w.versions, w.steps from forebay.worker w where w.stopped_at is null and w.seen_at > now() - interval '1 minute'
),
version as (
    select v.*, row_number() over (partition by v.pipeline_id order by v.id) as number from forebay.pipeline_version v
)
select p.name as pipeline, v.id as version_id, v.number, v.id = p.version_id as is_present, v.created_at, v.unserved_since,
       coalesce(o.jobs, 0) as open_jobs,
       (select count(*) from alive a where v.id = any(a.versions)) as workers,
       array(select s.name from forebay.version_step s where s.version_id = v.id order by s.place) as steps,
       array(select s.name from forebay.version_step s where s.version_id = v.id
             and not exists (select from alive a where s.step_id = any(a.steps)) order by s.place) as unserved
from version v
join forebay.pipeline p on p.id = v.pipeline_id
left join open o on o.pipeline_id = p.id and o.version_id = v.id
where v.id = p.version_id or o.jobs > 0 or exists (select from alive a where v.id = any(a.versions))
order by p.name, v.id
