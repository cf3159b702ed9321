-- Jobs as search_jobs() finds them, reading at most 5,000; those of one item are counted together by pipeline and hour. At most
-- $10 entries, newest first: where the page ends, a group ends, too, and goes on in the next page.
with found as materialized (
    select * from forebay.search_jobs($1, $2, $3, $4::forebay.job_state[], $5, $6, $7, $8, $9, 5000, 5000)
),
job as materialized (
    select j.id, j.pipeline_id, j.state, j.total, j.done, j.skipped, j.not_found, j.error,
           case when j.total > 1 or not j.sealed then j.id end as job_id,
           case when j.total <= 1 and j.sealed then date_trunc('hour', j.created_at, 'UTC') end as hour
    from found f
    cross join lateral unnest(f.ids) k(id)
    cross join lateral (select j.* from forebay.job j where j.id = k.id limit 1) j
),
behind as (  -- the first entry of the next page
    select max(j.id) as id from job j group by j.job_id, j.pipeline_id, j.hour order by 1 desc offset $10 limit 1
),
entry as (
    select j.job_id, j.pipeline_id, j.hour, count(*) as jobs, min(j.id) as first_id, max(j.id) as last_id,
           sum(j.total) as total, sum(j.done) as done, sum(j.skipped) as skipped, sum(j.not_found) as not_found,
           sum(j.error) as error,
           count(*) filter (where j.state = 'QUEUED') as queued, count(*) filter (where j.state = 'RUNNING') as running,
           count(*) filter (where j.state = 'PAUSED') as paused, count(*) filter (where j.state = 'DONE') as state_done,
           count(*) filter (where j.state = 'FAILED') as failed, count(*) filter (where j.state = 'CANCELLED') as cancelled
    from job j where j.id > coalesce((select b.id from behind b), 0)
    group by j.job_id, j.pipeline_id, j.hour
)
select e.*, p.name as pipeline, coalesce((select b.id + 1 from behind b), f.next_before) as next_before, f.looked_at, f.looked_to
from found f
left join entry e on true
left join forebay.pipeline p on p.id = e.pipeline_id
order by e.last_id desc
