-- What happened to the tasks of articles, and when: created; processing, for each claim; then retried, completed or failed for
-- each attempt that has ended. It is read from the rows that the engine writes anyway, so that no claim writes another one.
create or replace view forebay.embedding_log as
select t.article_id, t.job_id, t.item, t.owner_id, e.at, e.event, e.attempt, e.reason
from forebay.article_task t
cross join lateral (
    select t.queued_at as at, 'created' as event, null::int as attempt, null::text as reason
    union all
    select a.started_at, 'processing', a.attempt::int, null from forebay.attempt a where a.job_id = t.job_id and a.n = t.item
    union all
    select l.claimed_at, 'processing', l.attempt::int, null from forebay.lease l where l.job_id = t.job_id and l.ns @> t.item
    union all
    select a.ended_at,
           case when a.outcome in ('DONE', 'SKIPPED', 'NOT_FOUND') then 'completed' when a.outcome = 'CANCELLED' then 'cancelled'
                when a.outcome = 'ERROR' and exists (
                    select from forebay.dead_letter d
                    where d.job_id = a.job_id and d.n = a.n and d.step_id = a.step_id and d.attempt = a.attempt) then 'failed'
                else 'retried' end,
           a.attempt::int, a.reason
    from forebay.attempt a where a.job_id = t.job_id and a.n = t.item) e;
select forebay.set_security_invoker('forebay.embedding_log');
