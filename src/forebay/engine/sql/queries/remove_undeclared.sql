-- Removes the declared schedules of pipelines with living workers, none of which declares them. A worker that has just stopped may
-- be restarting: its schedules stay for another minute. Returns the names of the removed schedules.
with declaring as materialized (
    select w.versions, w.schedules, w.stopped_at is null as is_living from forebay.worker w
    where w.stopped_at is null or w.stopped_at > coalesce(cast($1 as timestamptz), clock_timestamp()) - interval '1 minute'
),
known as (
    select v.pipeline_id from declaring d join forebay.pipeline_version v on v.id = any(d.versions)
    where d.is_living group by v.pipeline_id having bool_and(d.schedules is not null)
),
removed as (
    delete from forebay.schedule s
    where s.declared and s.pipeline_id in (select k.pipeline_id from known k)
      and not exists (select from declaring d where s.name = any(d.schedules))
    returning s.name
)
select coalesce(array_agg(r.name order by r.name), '{}') from removed r
