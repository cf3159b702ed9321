-- Gives open items that have no task the tasks that they should have: for what a defect, or a hand in the tables, has left
-- behind. Looks at jobs that have not moved for `idle` and have no task at all. Returns how many tasks were added.
create or replace function forebay.repair_stranded(
    now timestamptz default null, idle interval default '10 minutes', max_jobs int default 100
) returns bigint language plpgsql set enable_nestloop = off set jit = off as $$
#variable_conflict use_column
declare
    at timestamptz := coalesce(now, clock_timestamp());
    suspects bigint[];
    suspect bigint;
    job forebay.job;
    added bigint := 0;
begin
    suspects := array(
        select j.id from forebay.job j
        where j.finished_at is null and j.state in ('QUEUED', 'RUNNING') and j.sealed and j.updated_at < at - idle
          and not exists (select from forebay.lease l where l.job_id = j.id)
          and not exists (select from forebay.scheduled s where s.job_id = j.id)
          and not exists (select from forebay.ready r where r.job_id = j.id)
        order by j.id limit max_jobs);
    foreach suspect in array suspects loop
        job := forebay.lock_job(suspect);
        continue when job.finished_at is not null or job.state = 'CANCELLED';
        added := added + forebay.complete_runs(job, at);
        update forebay.job j set updated_at = at where j.id = job.id and j.finished_at is null;
    end loop;
    return added;
end $$;
