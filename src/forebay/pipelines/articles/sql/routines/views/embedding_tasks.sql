-- Tasks of articles, with the columns of a table of its own. The rank orders by priority: as text, `high` comes before `low`.
-- processed_at: when the last attempt began.
create or replace view forebay.embedding_tasks as
select forebay.embedding_task_id(t.job_id, t.item) as id, t.article_id, i.input ->> 'slug' as slug, i.input ->> 'operation' as operation,
       forebay.priority_name(j.priority) as priority,
       case when i.status in ('DONE', 'SKIPPED', 'NOT_FOUND') then 'completed' when i.status = 'ERROR' then 'failed'
            when l.token is not null then 'processing' else 'pending' end as status,
       coalesce(a.attempts, 0) + (l.token is not null)::int as attempts, s.max_attempts::int as max_attempts,
       t.queued_at as created_at, coalesce(later.run_at, t.queued_at) as scheduled_at,
       coalesce(l.claimed_at, a.last_started_at) as processed_at,
       case when i.status <> 'PENDING' then i.updated_at end as completed_at, i.error ->> 'reason' as error_message,
       jsonb_strip_nulls(jsonb_build_object('result', i.result -> 'embed', 'error', i.error)) as metadata,
       j.priority::int as rank, t.job_id, t.item, t.owner_id
from forebay.article_task t
join forebay.job j on j.id = t.job_id
join forebay.item i on i.job_id = t.job_id and i.n = t.item
join forebay.step s on s.pipeline_id = j.pipeline_id and s.name = 'embed'
left join lateral (
    select l.token, l.claimed_at from forebay.lease l
    where i.status = 'PENDING' and l.job_id = t.job_id and l.ns @> t.item limit 1) l on true
left join lateral (
    select count(*) filter (where a.outcome in ('DONE', 'SKIPPED', 'NOT_FOUND', 'ERROR', 'EXPIRED'))::int as attempts,
           max(a.started_at) as last_started_at
    from forebay.attempt a where a.job_id = t.job_id and a.n = t.item) a on true
left join lateral (
    select max(c.run_at) as run_at from forebay.scheduled c
    where i.status = 'PENDING' and c.job_id = t.job_id and t.item between c.first_n and c.last_n and c.run_at < 'infinity') later on true;
select forebay.set_security_invoker('forebay.embedding_tasks');
