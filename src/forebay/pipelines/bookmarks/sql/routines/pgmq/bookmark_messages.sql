-- Bookmark jobs as messages of a queue. A message is archived when all of its steps have succeeded, or on request: one that failed
-- permanently stays in the queue as long as its dead letters.
create or replace view forebay.bookmark_messages as
select j.id as msg_id, 0 as read_ct, j.created_at as enqueued_at, coalesce(j.started_at, j.created_at) as vt, j.finished_at, i.input as message,
       case when j.finished_at is not null and not exists (select from forebay.dead_letter d where d.job_id = j.id) then j.updated_at end
           as archived_at
from forebay.job j
join forebay.item i on i.job_id = j.id and i.n = 1
where j.pipeline_id = (select p.id from forebay.pipeline p where p.name = 'bookmarks');
select forebay.set_security_invoker('forebay.bookmark_messages');
select forebay.permit('select', 'bookmark_messages', 'forebay_admin');
