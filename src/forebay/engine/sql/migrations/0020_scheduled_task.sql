-- outside a transaction: the index is built while work goes on.
-- A signal looks for the run of one item, also among the many that wait in one large job.
drop index concurrently if exists forebay.scheduled_task;
create index concurrently scheduled_task on forebay.scheduled (job_id, first_n);
drop index concurrently if exists forebay.scheduled_job;
