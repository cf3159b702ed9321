-- All workers that run the tasks of articles, as the single row that a program with one worker expects. tasks_*: attempts that have
-- ended and are still recorded.
create or replace view forebay.embedding_worker_status as
select 1 as id, coalesce(bool_or(w.stopped_at is null and w.seen_at > now() - interval '1 minute'), false) as is_running,
       max(w.seen_at) as last_heartbeat, coalesce(min(c.done + c.failed), 0) as tasks_processed,
       coalesce(min(c.done), 0) as tasks_succeeded, coalesce(min(c.failed), 0) as tasks_failed,
       min(w.started_at) filter (where w.stopped_at is null) as started_at
from (select count(*) filter (where a.outcome in ('DONE', 'SKIPPED', 'NOT_FOUND')) as done,
             count(*) filter (where a.outcome in ('ERROR', 'EXPIRED')) as failed
      from forebay.attempt a
      where a.step_id in (select s.id from forebay.step s join forebay.pipeline p on p.id = s.pipeline_id and p.name = 'articles')) c
left join forebay.worker w on w.stats -> 'steps' ? 'articles.embed';
select forebay.set_security_invoker('forebay.embedding_worker_status');
