-- The time of the last activity of a job, or of the last heartbeat of a worker that holds some of its tasks.
create or replace function forebay.heartbeat_at(j forebay.job) returns timestamptz language sql stable as $$
select case when j.finished_at is not null then j.finished_at else greatest(
    j.updated_at,
    (select i.updated_at from forebay.item i where j.total = 1 and i.job_id = j.id and i.n = 1),
    (select max(w.seen_at) from forebay.worker w
     where w.id in (select l.worker_id from forebay.lease l where l.job_id = j.id limit 1000))) end
$$;
