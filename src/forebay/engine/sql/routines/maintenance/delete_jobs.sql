-- Deletes jobs whose items are deleted, with their other rows. Returns the number of jobs. Part of delete_finished().
create or replace function forebay.delete_jobs(jobs bigint[]) returns bigint language plpgsql set enable_seqscan = off as $$
declare
    gone bigint;
    deleted_at constant timestamptz := clock_timestamp();
begin
    delete from forebay.dead_letter d where d.job_id = any(jobs);
    delete from forebay.throttled_task t where t.job_id = any(jobs);
    -- drop_dead_runs() drops their remaining runs in lanes of owners: searching for them here costs too much.
    delete from forebay.ready r
    using forebay.lane l, forebay.job j
    where l.job_id = any(jobs) and l.job_id <> 0 and j.id = l.job_id
      and r.step_id = any(forebay.steps_of(j)) and r.lane_id = l.id and r.job_id = l.job_id;
    delete from forebay.scheduled s where s.job_id = any(jobs);
    delete from forebay.waiting w where w.job_id = any(jobs);
    delete from forebay.child_change k where k.job_id = any(jobs);
    delete from forebay.lease l where l.job_id = any(jobs);
    perform forebay.end_ordered_of(jobs, clock_timestamp());
    delete from forebay.lane l where l.job_id = any(jobs) and l.job_id <> 0;
    with old as (
        delete from forebay.job j where j.id = any(jobs)
        returning j.id, j.owner_id, j.pipeline_id, j.total, j.done, j.skipped, j.not_found, j.error
    ),
    tallied as (
        insert into forebay.tally (owner_id, pipeline_id, done, skipped, not_found, error)
        select o.owner_id, o.pipeline_id, -sum(o.done), -sum(o.skipped), -sum(o.not_found), -sum(o.error)
        from old o where o.total > 0 group by o.owner_id, o.pipeline_id
    ),
    noted as (
        insert into forebay.deleted_jobs (at, owner_id, job_ids)
        select deleted_at, o.owner_id, array_agg(o.id order by o.id) from old o group by o.owner_id
    )
    select count(*) into gone from old;
    delete from forebay.deleted_jobs d where d.at < deleted_at - interval '6 hours';
    return gone;
end $$;
