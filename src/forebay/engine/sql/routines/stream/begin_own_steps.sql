-- Makes the job's own item, and the steps on it claimable that wait for nothing but the end of all items.
create or replace function forebay.begin_own_steps(job forebay.job, at timestamptz) returns void
language plpgsql as $$
declare run record;
begin
    insert into forebay.item (job_id, n, owner_id, pipeline_id, input, created_at, updated_at)
    values (job.id, 0, job.owner_id, job.pipeline_id, '{}', at, at);
    for run in
        insert into forebay.ready (step_id, lane_id, job_id, owner_id, first_n, last_n)
        select s.id, job.lane_id, job.id, job.owner_id, 0, 0 from forebay.step s
        where s.pipeline_id = job.pipeline_id and s.active and s.after_all and s.needs = 0 and s.bit & job.job_steps <> 0
        returning step_id, lane_id, seq
    loop
        perform forebay.wake(run.step_id, run.lane_id, run.seq, at);
    end loop;
end $$;
